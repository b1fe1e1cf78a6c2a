"""Edges weighted by cliques."""

from itertools import combinations

import numpy as np
import pytest
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, row_normalized
from hypothesis import given

from sign.datasets.cora import Cora
from sign.graph.graph import Graph
from sign.operators.clique import CliqueAdjacency
from sign.operators.motif_counts import cliques, triangles


def formula(graph: Graph, size: int) -> np.ndarray:
    """w_ij times the cliques with i and j, found by trying every set of nodes."""
    weights = dense_undirected(graph)
    np.fill_diagonal(weights, 0)
    counts = np.zeros_like(weights)
    for nodes in combinations(range(graph.nodes), size):
        pairs = list(combinations(nodes, 2))
        if all(weights[pair] > 0 for pair in pairs):
            for i, j in pairs:
                counts[i, j] += 1
                counts[j, i] += 1
    return row_normalized(weights * counts)


@pytest.mark.parametrize("size", [3, 4, 5])
@given(graph=graphs())
def test_it_equals_the_dense_formula(size: int, graph: Graph) -> None:
    np.testing.assert_allclose(applied(CliqueAdjacency(size), graph), formula(graph, size), atol=1e-5)


@given(graph=graphs())
def test_rows_sum_to_one_or_are_empty_and_renumbering_renumbers(graph: Graph) -> None:
    sums = applied(CliqueAdjacency(), graph).sum(axis=1)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
    assert_equivariant(CliqueAdjacency(), graph)


def test_cliques_of_three_are_triangles_on_cora() -> None:
    csr = Cora().load().adjacency
    assert (cliques(csr, 3) == triangles(csr)).all()
    assert cliques(csr, 4).sum() // 12 == 220
