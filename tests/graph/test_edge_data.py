"""Features and times of edges: how listings are combined, what both directions have, and what a subgraph keeps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.csr import CSR
from sign.graph.csr_transforms import merge_directions
from sign.graph.edge_data import TimedEdges, features_by_entry
from sign.graph.graph import Graph
from sign.system import arrays

CHAIN = (np.array([0, 1]), np.array([1, 2]))


@st.composite
def listings(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Sources, targets and a small integer per listing, with many duplicates, reverses and self-loops."""
    nodes = draw(st.integers(1, 5))
    node = st.integers(0, nodes - 1)
    listed = draw(st.lists(st.tuples(node, node, st.integers(1, 4)), min_size=1, max_size=20))
    source, target, values = np.array(listed).T
    return source, target, values, nodes


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rule", ["mean", "max", "sum"])
@given(listed=listings())
def test_features_combine_as_weights_do(directed: bool, rule: str, listed: tuple) -> None:
    source, target, values, nodes = listed
    weighted = CSR.from_edges(source, target, nodes, values.astype(np.float32), combine=rule)
    weighted = weighted if directed else merge_directions(weighted, rule)
    features = features_by_entry(source, target, values[:, None].astype(np.float32), weighted, directed, rule)
    np.testing.assert_allclose(features[:, 0], weighted.weights, rtol=1e-6)


def test_directions_are_equal_only_if_all_columns_are() -> None:
    pattern = CSR.from_edges(np.array([0]), np.array([1]), 2, both=True)
    features = np.array([[1, 2], [1, 5]], np.float32)
    found = features_by_entry(np.array([0, 1]), np.array([1, 0]), features, pattern, False, "sum")
    assert found.tolist() == [[2, 7], [2, 7]]
    same = features_by_entry(np.array([0, 1]), np.array([1, 0]), features[[0, 0]], pattern, False, "sum")
    assert same.tolist() == [[1, 2], [1, 2]]


def test_negative_features_may_be_listed_again_but_not_differ() -> None:
    edges = np.array([[0, 1], [1, 0], [1, 2]])
    graph = Graph.from_edges(edges, np.eye(3), edge_features=[[-1.0], [-1.0], [0.0]])
    assert graph.edge_features.tolist() == [[-1], [-1], [0], [0]]
    with pytest.raises(SignError, match="between the nodes 0 and 1 is listed with different features"):
        Graph.from_edges(edges, np.eye(3), edge_features=[[-1.0], [1.0], [0.0]])
    Graph.from_edges(edges, np.eye(3), edge_features=[[-1.0], [1.0], [0.0]], directed=True)


@pytest.mark.parametrize("directed", [False, True])
@given(listed=listings())
def test_times_are_all_kept_in_order(directed: bool, listed: tuple) -> None:
    source, target, times, nodes = listed
    timed = TimedEdges.from_edges(source, target, times.astype(np.float64), nodes, both=not directed)
    pairs = list(zip(source, times, target, strict=True))
    pairs += [] if directed else list(zip(target, times, source, strict=True))
    rows = np.repeat(np.arange(nodes), np.diff(timed.indptr))
    assert list(zip(rows, timed.times, timed.targets, strict=True)) == sorted(set(pairs))
    assert timed.is_valid()
    assert timed.self_loops == len({pair for pair in pairs if pair[0] == pair[2]})


@pytest.mark.parametrize("directed", [False, True])
@given(listed=listings(), chosen=st.integers(1, 31))
def test_a_training_graph_has_the_data_of_its_own_edges(directed: bool, listed: tuple, chosen: int) -> None:
    source, target, values, nodes = listed
    train = np.array([node for node in range(nodes) if chosen >> node & 1], np.int64)
    if not len(train):
        return
    values = source + target  # the same in every listing of an edge
    data = {"edge_features": values[:, None], "edge_times": values, "directed": directed}
    graph = Graph.from_edges((source, target), np.eye(nodes), np.zeros(nodes, int), train=train, **data)
    inner = graph.induced_by_training()
    rows = train[inner.adjacency.row_indices()]
    assert (inner.edge_features[:, 0] == rows + train[inner.adjacency.indices]).all()
    timed = inner.edge_times
    assert timed.is_valid()
    assert (timed.times == np.repeat(train, np.diff(timed.indptr)) + train[timed.targets]).all()
    assert set(timed.targets.tolist()) == set(inner.adjacency.indices.tolist())


def test_mapped_lists_give_the_same(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 50, (2, 400))
    features, times = rng.random((400, 3), np.float32), rng.integers(0, 9, 400).astype(np.float64)
    pattern = CSR.from_edges(source, target, 50, both=True)
    expected = features_by_entry(source, target, features, pattern, False, "mean")
    timed = TimedEdges.from_edges(source, target, times, 50, both=True)
    for name, array in {"source": source, "target": target, "features": features, "times": times}.items():
        np.save(tmp_path / name, array)
    source, target, features, times = (
        np.load(tmp_path / f"{name}.npy", mmap_mode="r+") for name in ("source", "target", "features", "times")
    )
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100)
    assert (features_by_entry(source, target, features, pattern, False, "mean") == expected).all()
    assert TimedEdges.from_edges(source, target, times, 50, both=True).digest == timed.digest


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"edge_features": [[1.0]]}, "give numbers for each of 2 edges"),
        ({"edge_features": [[1.0], [np.nan]]}, "some are missing or infinite"),
        ({"edge_times": [1.0, np.inf]}, "give one finite number per edge"),
        ({"edge_times": [[1.0], [2.0]]}, "give one finite number per edge"),
    ],
)
def test_what_does_not_fit_the_edges_is_refused(data: dict, message: str) -> None:
    with pytest.raises(SignError, match=message):
        Graph.from_edges(CHAIN, np.eye(3), **data)


def test_a_graph_checks_the_data_of_its_edges() -> None:
    graph = Graph.from_edges(CHAIN, np.eye(3), edge_features=[[1.0], [2.0]], edge_times=[3, 4])
    with pytest.raises(SignError, match="differ from those of its reverse"):
        replace(graph, edge_features=np.arange(4, dtype=np.float32)[:, None])
    with pytest.raises(SignError, match=r"edge features of shape \(3, 1\) with 0 names for 4 entries"):
        replace(graph, edge_features=graph.edge_features[:3])
    with pytest.raises(SignError, match="edge feature 0 of the edge from 1 to 2 is nan"):
        replace(graph, edge_features=np.array([[1], [1], [np.nan], [np.nan]], np.float32))
    timed = graph.edge_times
    with pytest.raises(SignError, match="times of edges are not finite, not sorted"):
        replace(graph, edge_times=replace(timed, times=timed.times[::-1]))
    with pytest.raises(SignError, match="edges have no order"):
        Graph.from_edges(graph.adjacency.to_scipy(), np.eye(3), edge_times=[1, 2])


def test_data_of_edges_are_a_part_of_the_key_only_where_they_are_read() -> None:
    with_times = Graph.from_edges(CHAIN, np.eye(3), [0, 1, 0], train=[0, 1], edge_times=[3, 4])
    (scope,) = classification_of(with_times).scopes
    assert scope.source["edge_times"] == with_times.edge_times.digest
    assert "edge_features" not in scope.source
