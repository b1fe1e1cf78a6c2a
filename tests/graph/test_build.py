"""Graphs from what a program has: arrays of numpy, torch and scipy, data of PyG, graphs of networkx."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch_geometric.data import Data

from sign.errors import SignError
from sign.graph.graph import Graph

EDGES = np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
X = np.arange(8).reshape(4, 2)
Y = [0, 1, 0, 1]
ADJACENCY = scipy.sparse.coo_array((np.ones(4), EDGES), (4, 4))


def same(one: Graph, two: Graph) -> bool:
    """Whether two graphs have equal edges, features, labels and splits."""
    contents = [(graph.labels, graph.train, graph.val, graph.test) for graph in (one, two)]
    return (
        one.adjacency.digest == two.adjacency.digest
        and np.array_equal(one.features[:], two.features[:])
        and all(np.array_equal(ours, theirs) for ours, theirs in zip(*contents, strict=True))
    )


@pytest.mark.parametrize(
    "edges",
    [
        EDGES.T,
        EDGES.tolist(),
        (EDGES[0], EDGES[1]),
        np.hstack([EDGES, EDGES[::-1]]),  # in both directions
        torch.from_numpy(EDGES),
        ADJACENCY,
        ADJACENCY.tocsr(),
        ADJACENCY.tocsr() + ADJACENCY.tocsr().T,
        torch.sparse_coo_tensor(EDGES, np.ones(4), (4, 4), check_invariants=True),
    ],
    ids=["m × 2", "list", "pair", "both directions", "torch", "coo", "csr", "symmetric", "torch sparse"],
)
def test_edges_of_any_form_give_the_same_graph(edges: Any) -> None:
    assert same(Graph.from_edges(edges, X, Y), Graph.from_edges(EDGES, X, Y))


@pytest.mark.parametrize("x", [X.tolist(), torch.from_numpy(X), scipy.sparse.csr_array(X), X.astype(np.float64)])
def test_features_of_any_form_are_the_same(x: Any) -> None:
    graph = Graph.from_edges(EDGES, x, Y)
    np.testing.assert_array_equal(graph.features[:], X)
    assert graph.features.dtype == np.float32


def test_splits_are_masks_or_indices_in_any_order() -> None:
    mask = np.array([True, False, True, False])
    graph = Graph.from_edges(EDGES, X, Y, train=mask, val=torch.tensor([3]), test=[1])
    assert same(graph, Graph.from_edges(EDGES, X, Y, train=[2, 0], val=~mask & (np.arange(4) > 1), test=np.array([1])))


@pytest.mark.parametrize(
    ("y", "options", "labels", "names"),
    [
        ([0, 2, -1, 1], {}, [0, 2, -1, 1], ()),
        ([0.0, 2.0, np.nan, 1.0], {}, [0, 2, -1, 1], ()),
        (torch.tensor([[0], [2], [1], [1]]), {}, [0, 2, 1, 1], ()),
        (["b", "a", None, "b"], {}, [1, 0, -1, 1], ("a", "b")),
        (["b", "a", "", "b"], {"class_names": ["b", "c", "a"]}, [0, 2, -1, 0], ("b", "c", "a")),
        ([0, 1, 0, 1], {"class_names": ["x", "y", "z"]}, [0, 1, 0, 1], ("x", "y", "z")),
        (None, {}, [-1] * 4, ()),
        (np.eye(4)[:, :3], {}, np.eye(4)[:, :3], ()),
    ],
)
def test_labels_are_numbers_names_or_a_matrix(y: Any, options: dict[str, Any], labels: Any, names: tuple[str]) -> None:
    graph = Graph.from_edges(EDGES, X, y, **options)
    np.testing.assert_array_equal(graph.labels, labels)
    assert graph.class_names == names
    assert graph.classes == (len(names) or (0 if y is None else 3))


def test_weights_are_those_of_each_edge_or_of_the_sparse_matrix() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    graph = Graph.from_edges(EDGES, X, weights=weights, directed=True)
    matrix = Graph.from_edges(scipy.sparse.coo_array((weights, EDGES), (4, 4)), X, directed=True)
    assert same(graph, matrix)
    np.testing.assert_array_equal(graph.adjacency.to_scipy().toarray()[EDGES[0], EDGES[1]], weights)
    assert graph.directed


def test_data_of_pyg() -> None:
    mask = torch.tensor([True, False, True, False])
    data = Data(x=torch.from_numpy(X).float(), edge_index=torch.from_numpy(EDGES), y=torch.tensor(Y), train_mask=mask)
    expected = Graph.from_edges(EDGES, X, Y, train=[0, 2], val=[1])
    assert same(Graph.from_pyg(data, val=[1]), expected)
    adjacency = torch.sparse_coo_tensor(EDGES[::-1].copy(), np.ones(4), (4, 4), check_invariants=True)
    transposed = Data(x=data.x, adj_t=adjacency, y=data.y, train_mask=mask)
    options = {"val": [1], "directed": True}
    assert same(Graph.from_pyg(transposed, **options), Graph.from_pyg(data, **options))
    two = Data(x=data.x, edge_index=torch.tensor([[0, 1], [2, 3]]))
    assert Graph.from_pyg(two, directed=True).adjacency.to_scipy().toarray()[0, 2] == 1


def test_graph_of_networkx() -> None:
    g = nx.Graph()
    for node, row, label, split in zip("abcd", X, ["u", "v", "u", None], ["train", "valid", "test", None], strict=True):
        g.add_node(node, x=row, y=label, **({"split": split} if split else {}))
    g.add_edges_from(("abcd"[source], "abcd"[target]) for source, target in EDGES.T)
    graph = Graph.from_networkx(g)
    assert same(graph, Graph.from_edges(EDGES, X, ["u", "v", "u", None], train=[0], val=[1], test=[2]))
    assert graph.node_ids is not None
    assert graph.node_ids.tolist() == list("abcd")
    nx.set_edge_attributes(g, {("a", "b"): 2.0}, "weight")
    assert Graph.from_networkx(g).adjacency.to_scipy().toarray()[0].tolist() == [0, 2, 0, 1]
    assert Graph.from_networkx(nx.DiGraph(g)).directed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edge_index": np.ones((3, 4))}, "edge_index: float64 of shape (3, 4); it must be integers, 2 × m or m × 2"),
        ({"edge_index": [[0, 1], [2, 3]]}, "edge_index: of shape (2, 2) is ambiguous; give two arrays"),
        ({"edge_index": scipy.sparse.eye_array(3)}, "adjacency: of shape (3, 3) for 4 nodes; it must be 4 × 4"),
        ({"edge_index": ADJACENCY, "weights": np.ones(4)}, "weights: are given beside a sparse adjacency"),
        ({"weights": [1.0]}, "weights: float64 of shape (1,); give one number for each of 4"),
        ({"edge_index": [[0, 1, 1], [1, 0, 2]], "weights": [1, 2, 3]}, "weights: the edge between the nodes 0 and 1"),
        ({"x": np.ones(4)}, "x: float64 of shape (4,); features must be numbers, nodes × columns"),
        ({"x": [["a"], ["b"], ["c"], ["d"]]}, "x: <U1 of shape (4, 1); features must be numbers"),
        ({"y": [0, 1, 0, 90210]}, "y: contains class 90210, but classes are numbered 0, 1, …"),
        ({"y": [0, 1, 0, -7]}, "y: labels must be the numbers of classes"),
        ({"y": [0, 0.5, 0, 1]}, "y: labels must be the numbers of classes"),
        ({"y": ["a", 1, None, "b"]}, "y: contains 1 beside text"),
        ({"y": ["a", "b", "a", "b"], "class_names": ["a"]}, "y: contains 'b', which is not in class_names"),
        ({"y": [0, 1, 0, 1], "class_names": ["a"]}, "y: contains class 1, but there are 1 class_names"),
        ({"y": np.full((4, 2), 3)}, "y: contains 3; several labels per node must be columns of 0 and 1"),
        ({"y": [0, 1]}, "graph: 2 rows of labels for 4 nodes"),
        ({"train": np.ones((4, 10), bool)}, "train: of shape (4, 10); give one mask or list of nodes"),
        ({"train": np.ones(3, bool)}, "train: a mask of 3 for 4 nodes"),
        ({"train": [0, 9]}, "graph: the train split contains a node that does not exist"),
        ({"node_ids": ["a", "a", "b", "c"]}, "node_ids: an id is duplicated"),
    ],
)
def test_wrong_input_is_one_message(change: dict[str, Any], message: str) -> None:
    with pytest.raises(SignError) as caught:
        Graph.from_edges(**{"edge_index": EDGES, "x": X, "y": Y, **change})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_objects_without_features_are_refused() -> None:
    with pytest.raises(SignError, match="has no x"):
        Graph.from_pyg(Data(edge_index=torch.from_numpy(EDGES)))
    with pytest.raises(SignError, match="node 0: has no attribute 'x'"):
        Graph.from_networkx(nx.path_graph(3))
