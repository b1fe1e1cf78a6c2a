"""The Gaussian kernel on features of edges equals its formula, and learns which features tell the class of a node."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.graphs import applied, dense, graphs, row_normalized
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.errors import FieldError, SignError
from sign.graph.classification import Origin, classification_of
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.gaussian import GaussianKernel
from sign.store.store import Store
from sign.testing import path

PLAIN = FeatureScaling("none")


def with_features(graph: Graph, columns: int, seed: int = 0) -> Graph:
    """The graph with features of edges, which in an undirected graph are those of both directions."""
    field = np.random.default_rng(seed).standard_normal((graph.nodes, graph.nodes, columns)).astype(np.float32) * 2
    field = field if graph.directed else field + field.transpose(1, 0, 2)
    return replace(graph, edge_features=field[graph.adjacency.row_indices(), graph.adjacency.indices])


def formula(graph: Graph, mean: list[float], width: list[float]) -> np.ndarray:
    """The mean of both directions of w_ij times the kernel, without loops, rows normalised."""
    kernel = np.zeros((graph.nodes, graph.nodes))
    distances = (graph.edge_features - np.array(mean)) / np.array(width)
    kernel[graph.adjacency.row_indices(), graph.adjacency.indices] = np.exp(-0.5 * (distances**2).sum(axis=1))
    weights = dense(graph) * kernel
    np.fill_diagonal(weights, 0)
    return row_normalized((weights + weights.T) / 2)


@given(graph=graphs(), columns=st.integers(1, 3))
def test_it_equals_the_dense_formula(graph: Graph, columns: int) -> None:
    graph = with_features(graph, columns)
    mean, width = [0.5, -1.0, 2.0][:columns], [1.0, 3.0, 2.0][:columns]
    np.testing.assert_allclose(applied(GaussianKernel(mean, width), graph), formula(graph, mean, width), atol=1e-5)
    np.testing.assert_allclose(applied(GaussianKernel([1.0], [2.0]), graph), formula(graph, [1.0], [2.0]), atol=1e-5)


def test_far_features_leave_no_row_empty() -> None:
    graph = replace(path(3), edge_features=np.full((4, 1), 1e6, np.float32))
    np.testing.assert_allclose(applied(GaussianKernel(), graph).sum(axis=1), 1, atol=1e-6)


def test_it_learns_which_edges_tell_the_class() -> None:
    """Edges of length 1 join equal classes, edges of length 3 any: the kernel at 2 has to move."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    pairs = rng.integers(0, 300, (4000, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    short = rng.random(len(pairs)) < 0.5
    kept = ~short | (labels[pairs[:, 0]] == labels[pairs[:, 1]])
    lengths = np.where(short, 1.0, 3.0)[kept, None]
    graph = Graph.from_edges(pairs[kept], np.eye(2)[labels], labels, train=np.arange(200), edge_features=lengths)
    operator = GaussianKernel([2.0], [1.0], learned=True, hidden=16, epochs=60, learning_rate=0.03)
    (mean,), (width,) = operator.learn(Origin(graph, PLAIN))
    kernel = np.exp(-0.5 * (np.array([1.0, 3.0]) - mean) ** 2 / width**2)
    assert kernel[0] > 3 * kernel[1]
    again = operator.learn(Origin(graph, PLAIN))
    assert (again == [[mean], [width]]).all()


@pytest.mark.parametrize("inductive", [False, True])
def test_no_held_out_node_changes_a_learned_kernel(tmp_path: Path, inductive: bool) -> None:
    graph = with_features(Communities(nodes=150, edges=500, inductive=inductive).load(), 2)
    held_out = np.r_[graph.val, graph.test]
    labels = graph.labels.copy()
    labels[held_out] = labels[held_out][::-1]
    other = replace(graph, labels=labels)
    if inductive:
        ends = graph.adjacency.row_indices(), graph.adjacency.indices
        outside = np.isin(ends[0], held_out) | np.isin(ends[1], held_out)
        other = replace(other, edge_features=np.where(outside[:, None], -graph.edge_features, graph.edge_features))
    powers = {"p": (GaussianKernel(learned=True, hidden=8, epochs=2), 1)}
    found = [
        diffuse(classification_of(each), powers, LocalEngine(), Store(str(tmp_path / name))).learned["p"].describe()
        for name, each in {"one": graph, "other": other}.items()
    ]
    assert found[0] == found[1]


def test_other_edge_features_are_other_hops_of_this_operator_alone(tmp_path: Path) -> None:
    graph = with_features(Communities(nodes=150, edges=500).load(), 2)
    powers = {"p": (NormalizedAdjacency(), 1), "k": (GaussianKernel(), 1)}
    diffuse(classification_of(graph), powers, LocalEngine(), Store(str(tmp_path)))
    changed = diffuse(classification_of(with_features(graph, 2, 1)), powers, LocalEngine(), Store(str(tmp_path)))
    assert [hop.name for hop in changed.every if not hop.found] == ["k1"]


def test_what_does_not_fit_is_an_error() -> None:
    graph = with_features(path(3), 2)
    with pytest.raises(FieldError, match=r"mean=\[1.0, 2.0, 3.0\]: test has 2 edge features"):
        GaussianKernel([1.0, 2.0, 3.0]).matrix(graph)
    with pytest.raises(FieldError, match="must be positive"):
        GaussianKernel(width=[0.0])
    with pytest.raises(FieldError, match="one number per column"):
        GaussianKernel(mean=[])
    with pytest.raises(SignError, match=r"its edges have no features, .* dataset.edge_features"):
        GaussianKernel().matrix(path(3))
    with pytest.raises(SignError, match="learned when hops are computed"):
        GaussianKernel(learned=True).matrix(graph)
    with pytest.raises(SignError, match="the kernel was learned on 1"):
        GaussianKernel(learned=True).learned_matrix(Origin(graph, PLAIN), np.ones((2, 1), np.float32))
