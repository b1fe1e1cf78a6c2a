"""The normalised adjacency equals its formula, by each name."""

import numpy as np
import pytest
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, inverse, normalized, row_normalized
from hypothesis import given

from sign.datasets.synthetic.communities import Communities
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency

FORMULAS = {
    "gcn": lambda w: normalized(w + np.eye(len(w))),
    "symmetric": normalized,
    "row": row_normalized,
    "column": lambda w: w @ np.diag(inverse(w.sum(axis=0))),
}


@pytest.mark.parametrize("name", FORMULAS)
@given(graph=graphs())
def test_it_equals_the_dense_formula(name: str, graph: Graph) -> None:
    ours = applied(NormalizedAdjacency(name), graph)
    np.testing.assert_allclose(ours, FORMULAS[name](dense_undirected(graph)), atol=1e-5)


@pytest.mark.parametrize("name", ["gcn", "symmetric"])
@given(graph=graphs())
def test_it_is_symmetric_with_spectrum_in_minus_one_to_one(name: str, graph: Graph) -> None:
    matrix = applied(NormalizedAdjacency(name), graph)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-6)
    eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    assert eigenvalues.min() > -1 - 1e-5
    assert eigenvalues.max() < 1 + 1e-5
    if name == "gcn":
        assert eigenvalues.max() > 1 - 1e-5


@pytest.mark.parametrize(("name", "axis"), [("row", 1), ("column", 0)])
@given(graph=graphs())
def test_sums_are_one_or_zero(name: str, axis: int, graph: Graph) -> None:
    sums = applied(NormalizedAdjacency(name), graph).sum(axis=axis)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))


@pytest.mark.parametrize("name", FORMULAS)
@given(graph=graphs())
def test_renumbering_nodes_renumbers_it(name: str, graph: Graph) -> None:
    assert_equivariant(NormalizedAdjacency(name), graph)


def test_dropping_edges_is_repeatable_symmetric_and_about_the_share() -> None:
    graph = Communities(nodes=2000, edges=20000).load()
    dropped = NormalizedAdjacency("row", drop_edges=0.4, drop_seed=3).matrix(graph).csr
    again = NormalizedAdjacency("row", drop_edges=0.4, drop_seed=3).matrix(graph).csr
    other = NormalizedAdjacency("row", drop_edges=0.4, drop_seed=4).matrix(graph).csr
    assert dropped.digest == again.digest != other.digest
    assert abs(dropped.entries / graph.adjacency.entries - 0.6) < 0.02
    matrix = dropped.to_scipy()
    assert (matrix != matrix.T).nnz == 0
    assert (matrix - matrix.multiply(graph.adjacency.to_scipy())).count_nonzero() == 0
