"""Edges weighted by cycles of four nodes."""

from itertools import permutations

import numpy as np
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, row_normalized
from hypothesis import given

from sign.graph.graph import Graph
from sign.operators.four_cycle import FourCycleAdjacency
from sign.testing import graph_of


def formula(graph: Graph) -> np.ndarray:
    """w_ij times the cycles i - j - k - l - i, found by trying all k and l."""
    weights = dense_undirected(graph)
    np.fill_diagonal(weights, 0)
    counts = np.zeros_like(weights)
    for i, j, k, m in permutations(range(graph.nodes), 4):
        counts[i, j] += weights[i, j] > 0 and weights[j, k] > 0 and weights[k, m] > 0 and weights[m, i] > 0
    return row_normalized(weights * counts)


@given(graph=graphs())
def test_it_equals_the_dense_formula(graph: Graph) -> None:
    np.testing.assert_allclose(applied(FourCycleAdjacency(), graph), formula(graph), atol=1e-5)


@given(graph=graphs())
def test_rows_sum_to_one_or_are_empty_and_renumbering_renumbers(graph: Graph) -> None:
    sums = applied(FourCycleAdjacency(), graph).sum(axis=1)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
    assert_equivariant(FourCycleAdjacency(), graph)


def test_a_tree_has_none() -> None:
    assert not applied(FourCycleAdjacency(), graph_of([(0, 1), (0, 2), (0, 3), (3, 4)], 5)).any()
