"""Both directions of a directed graph."""

import numpy as np
import pytest
from common.graphs import applied, assert_equivariant, dense, graphs, row_normalized
from hypothesis import given

from sign.datasets.cora import Cora
from sign.graph.graph import Graph
from sign.operators.directed import DirectedAdjacency


@pytest.mark.parametrize("transposed", [False, True])
@given(graph=graphs(directed=True))
def test_it_equals_the_dense_formula(transposed: bool, graph: Graph) -> None:
    weights = dense(graph)
    np.fill_diagonal(weights, 0)
    expected = row_normalized(weights.T if transposed else weights)
    np.testing.assert_allclose(applied(DirectedAdjacency(transposed), graph), expected, atol=1e-5)


@pytest.mark.parametrize("transposed", [False, True])
@given(graph=graphs(directed=True))
def test_rows_sum_to_one_or_are_empty_and_renumbering_renumbers(transposed: bool, graph: Graph) -> None:
    operator = DirectedAdjacency(transposed)
    sums = applied(operator, graph).sum(axis=1)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
    assert_equivariant(operator, graph)


def test_a_citation_points_from_the_citing_paper() -> None:
    graph = Cora(directed=True).load()
    along, against = (DirectedAdjacency(transposed).matrix(graph).csr for transposed in (False, True))
    assert along.entries == against.entries == 5429
    assert (along.to_scipy() != against.to_scipy().T).nnz == 0


def test_dropping_edges_is_repeatable() -> None:
    graph = Cora(directed=True).load()
    kept = [DirectedAdjacency(drop_edges=0.2, drop_seed=seed).matrix(graph).csr for seed in (1, 1, 2)]
    assert kept[0].digest == kept[1].digest != kept[2].digest
    assert abs(kept[0].entries / 5429 - 0.8) < 0.03
