"""The triangle-induced adjacency counts triangles."""

import networkx
import numpy as np
import pytest
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, row_normalized
from hypothesis import given

from sign.datasets.cora import Cora
from sign.graph.graph import Graph
from sign.operators.motif_counts import triangles
from sign.operators.triangle import TriangleAdjacency


def formula(graph: Graph, keep_self_loops: bool) -> np.ndarray:
    """w_ij times the number of common neighbours of i and j, rows normalised."""
    weights = dense_undirected(graph)
    if not keep_self_loops:
        np.fill_diagonal(weights, 0)
    pattern = (weights > 0).astype(float)
    return row_normalized(weights * (pattern @ pattern))


@pytest.mark.parametrize("keep_self_loops", [False, True])
@given(graph=graphs())
def test_it_equals_the_dense_formula(keep_self_loops: bool, graph: Graph) -> None:
    operator = TriangleAdjacency(keep_self_loops)
    np.testing.assert_allclose(applied(operator, graph), formula(graph, keep_self_loops), atol=1e-5)


@given(graph=graphs())
def test_rows_sum_to_one_or_are_empty_and_renumbering_renumbers(graph: Graph) -> None:
    sums = applied(TriangleAdjacency(), graph).sum(axis=1)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
    assert_equivariant(TriangleAdjacency(), graph)


@pytest.mark.parametrize("seed", range(5))
def test_counts_equal_networkx(seed: int) -> None:
    peer = networkx.barabasi_albert_graph(300, 5, seed=seed)
    pairs = np.array(peer.edges)
    from sign.testing import graph_of

    csr = graph_of(pairs, 300).adjacency
    per_node = np.bincount(csr.row_indices(), triangles(csr), minlength=300) / 2
    assert per_node.tolist() == list(networkx.triangles(peer).values())


def test_counts_equal_brute_force_on_cora() -> None:
    csr = Cora().load().adjacency
    neighbours = [set(csr.indices[csr.indptr[i] : csr.indptr[i + 1]].tolist()) for i in range(csr.nodes)]
    expected = [len(neighbours[i] & neighbours[j]) for i, j in zip(csr.row_indices(), csr.indices, strict=True)]
    assert triangles(csr).tolist() == expected
    assert sum(expected) // 6 == 1630
