"""A graph is validated when it is created."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.features import SparseFeatures
from sign.graph.graph import Graph
from sign.testing import graph_of, path


@pytest.fixture
def graph() -> Graph:
    return path(4)


def nan_features() -> np.ndarray:
    features = np.eye(4, dtype=np.float32)
    features[2, 1] = np.nan
    return features


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.eye(3, dtype=np.float32)}, "3 rows of features for 4 nodes"),
        ({"features": np.zeros(4, np.float32)}, "features of shape"),
        ({"features": nan_features()}, "feature 1 of node 2 is nan"),
        ({"labels": np.zeros(5, np.int64)}, "5 rows of labels"),
        ({"labels": np.array([0, 0, 0, 1])}, "label 1 of a node in a split is not in 0 to 0"),
        ({"labels": np.array([0, 0, -1, 0])}, "label -1 of a node in a split"),
        ({"labels": np.full((4, 1), 2)}, "0/1 matrix"),
        ({"val": np.array([4])}, "the val split contains a node that does not exist"),
        ({"test": np.array([1])}, "test split is also in another split"),
        ({"train": np.array([0, 0])}, "train split are not sorted, or one is duplicated"),
    ],
)
def test_inconsistent_arrays_are_refused(graph: Graph, changes: dict, message: str) -> None:
    with pytest.raises(SignError, match=message):
        replace(graph, **changes)


def test_errors_use_the_names_of_the_user(graph: Graph) -> None:
    names = {"node_ids": np.array(["ann", "bob", "eve", "tom"]), "feature_names": ("age", "income", "x", "y")}
    with pytest.raises(SignError, match="feature `income` of node `eve` is nan"):
        replace(graph, features=nan_features(), **names)
    sparse = scipy.sparse.csr_array(nan_features())
    features = SparseFeatures(sparse.indptr.astype(np.int64), sparse.indices, 4, sparse.data)
    with pytest.raises(SignError, match="feature `income` of node `eve` is nan"):
        replace(graph, features=features, **names)
    with pytest.raises(SignError, match="node `bob` of the test split is also in another split"):
        replace(graph, test=np.array([1]), **names)


@pytest.mark.parametrize(
    ("field", "names"), [("class_names", ("a", "b")), ("feature_names", ("x",)), ("node_ids", np.arange(3))]
)
def test_there_are_as_many_names_as_things(graph: Graph, field: str, names: Any) -> None:
    with pytest.raises(SignError, match=f"{len(names)} {field} for"):
        replace(graph, **{field: names})


def test_ids_of_training_nodes_stay_with_them(graph: Graph) -> None:
    named = replace(graph, node_ids=np.array(["a", "b", "c", "d"]), train=np.array([1, 3]))
    assert named.induced_by_training().node_ids.tolist() == ["b", "d"]


@pytest.mark.parametrize(("directed", "edges"), [(False, 3), (True, 4)])
def test_an_edge_and_a_self_loop_count_once(directed: bool, edges: int) -> None:
    graph = graph_of([(0, 1), (1, 0), (1, 2), (2, 2)], 3, directed=directed)
    assert graph.edges == edges
    assert f"3 nodes, {edges} edges" in classification_of(graph).summary
    assert graph.adjacency.self_loops == 1


@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan, np.inf])
def test_weights_are_positive_and_finite(weight: float) -> None:
    with pytest.raises(SignError, match="weights must be positive and finite"):
        graph_of([(0, 1), (1, 2)], 3, np.array([1.0, weight]))


def test_a_negative_weight_is_not_hidden_by_a_parallel_edge() -> None:
    with pytest.raises(SignError, match="an edge has weight -1"):
        graph_of([(0, 1), (0, 1)], 2, np.array([-1.0, 3.0]))


def test_degrees_are_exact_beside_large_weights() -> None:
    graph = graph_of([(0, 1), (2, 3), (3, 4)], 5, np.array([1e12, 1e-3, 2.0]))
    np.testing.assert_allclose(graph.adjacency.row_sums, [1e12, 1e12, 1e-3, 2.001, 2.0], rtol=1e-6)


def test_an_undirected_graph_is_symmetric() -> None:
    one_way = graph_of([(0, 1), (1, 2)], 3, directed=True)
    with pytest.raises(SignError, match="lacks its reverse"):
        replace(one_way, directed=False)


def test_an_edge_must_name_nodes_that_exist() -> None:
    with pytest.raises(SignError, match="an edge refers to node 3, but nodes are numbered 0 to 2"):
        graph_of([(0, 3)], 3)


def test_an_unlabelled_node_outside_every_split_is_allowed(graph: Graph) -> None:
    assert replace(graph, labels=np.array([0, 0, -1, 0]), train=np.array([0, 1, 3])).nodes == 4


def test_parallel_edges_count_once_without_weights_and_add_up_with_them() -> None:
    plain = graph_of([(0, 1), (0, 1)], 2, directed=True)
    assert plain.adjacency.to_scipy().toarray().tolist() == [[0, 1], [0, 0]]
    weighted = graph_of([(0, 1), (0, 1)], 2, np.array([1.0, 2.5]), directed=True)
    assert weighted.adjacency.to_scipy().toarray().tolist() == [[0, 3.5], [0, 0]]


def test_undirected_is_the_mean_of_both_directions() -> None:
    graph = graph_of([(0, 1), (1, 2), (2, 1)], 3, directed=True)
    assert graph.undirected.to_scipy().toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 1], [0, 1, 0]]


def test_the_induced_graph_holds_nothing_of_other_nodes(graph: Graph) -> None:
    inner = replace(graph, train=np.array([1, 2]), val=np.array([0]), test=np.array([3]))
    induced = inner.induced_by_training()
    assert induced.nodes == 2
    assert induced.adjacency.to_scipy().toarray().tolist() == [[0, 1], [1, 0]]
    assert (induced.features == graph.features[[1, 2]]).all()
