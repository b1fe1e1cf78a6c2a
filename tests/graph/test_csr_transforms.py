"""Derived matrices equal those of dense numpy, on random graphs."""

import numpy as np
import pytest
from common.graphs import dense, dense_undirected, graphs
from hypothesis import given
from hypothesis import strategies as st

from sign.graph import csr_transforms as transforms
from sign.graph.csr import CSR, ConflictingWeights
from sign.graph.graph import Graph
from sign.testing import graph_of


def assert_equal(csr: CSR, expected: np.ndarray) -> None:
    np.testing.assert_allclose(csr.to_scipy().toarray(), expected, rtol=1e-6)


@given(graph=graphs())
def test_symmetrize_is_the_mean_of_both_directions(graph: Graph) -> None:
    assert_equal(transforms.symmetrize(graph.adjacency), dense_undirected(graph))


def test_directions_of_equal_weight_are_one_edge_and_others_are_combined() -> None:
    source, target = np.array([0, 1, 1, 1, 2]), np.array([1, 0, 2, 1, 1])
    weights = np.array([2, 2, 3, 7, 5], np.float32)
    listed = CSR.from_edges(source, target, 3, weights)
    for combine, weight in {"mean": 4, "max": 5, "sum": 8}.items():
        merged = transforms.merge_directions(listed, combine)
        assert merged.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 7, weight], [0, weight, 0]]
        assert merged.listed_edges == 5
    with pytest.raises(ConflictingWeights, match="between the nodes 1 and 2 is listed with different weights"):
        transforms.merge_directions(listed, "error")


@given(graph=graphs())
def test_self_loops_are_removed_and_added(graph: Graph) -> None:
    matrix = dense(graph)
    assert_equal(transforms.add_self_loops(graph.adjacency), matrix + np.eye(graph.nodes))
    assert_equal(transforms.remove_self_loops(graph.adjacency), matrix - np.diag(np.diag(matrix)))


def test_added_self_loops_have_weights_only_if_they_are_not_all_one() -> None:
    assert transforms.add_self_loops(graph_of([(0, 1)], 2).adjacency).weights is None
    assert transforms.add_self_loops(graph_of([(0, 0)], 2).adjacency).weights is not None


@given(graph=graphs(), data=st.data())
def test_selected_entries_keep_their_place_and_weight(graph: Graph, data: st.DataObject) -> None:
    csr = graph.adjacency
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=csr.entries, max_size=csr.entries)), np.bool_)
    selected = transforms.select_entries(csr, mask)
    expected = np.zeros((graph.nodes, graph.nodes))
    rows = np.repeat(np.arange(graph.nodes), np.diff(csr.indptr))[mask]
    expected[rows, csr.indices[mask]] = 1 if csr.weights is None else csr.weights[mask]
    assert_equal(selected, expected)
    assert (selected is csr) == bool(mask.all())


@given(graph=graphs(directed=False), seed=st.integers(0, 100))
def test_dropped_edges_are_dropped_in_both_directions(graph: Graph, seed: int) -> None:
    assert transforms.drop_edges(graph.adjacency, 0.0, seed) is graph.adjacency
    kept = transforms.drop_edges(graph.adjacency, 0.5, seed).to_scipy().toarray()
    matrix = dense(graph)
    np.testing.assert_array_equal(kept != 0, kept.T != 0)
    np.testing.assert_allclose(kept[kept != 0], matrix[kept != 0])
