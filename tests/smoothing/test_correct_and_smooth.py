from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from common.graphs import dense_undirected, graphs, normalized
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import CorrectAndSmooth as PyGCorrectAndSmooth

from sign.datasets.synthetic.communities import Communities
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.graph.graph import Graph
from sign.smoothing.correct_and_smooth import CorrectAndSmooth

ENGINE = LocalEngine(threads=1)
CLASSES = 3


def smoothing(**changes: Any) -> CorrectAndSmooth:
    settings = {
        "correct_alpha": 0.7,
        "correct_normalization": "symmetric",
        "scale": "auto",
        "smooth_alpha": 0.6,
        "smooth_normalization": "symmetric",
        "iterations": 5,
    }
    return CorrectAndSmooth(**(settings | changes))


def with_splits(graph: Graph, seed: int, multilabel: bool = False) -> Graph:
    """A graph whose nodes have random labels and splits; the first is a training node, the last of several is not."""
    rng = np.random.default_rng(seed)
    split = rng.integers(0, 3, graph.nodes)
    split[0], split[-1] = 0, 1
    labels = rng.integers(0, 2, (graph.nodes, CLASSES)) if multilabel else rng.integers(0, CLASSES, graph.nodes)
    nodes = {name: np.flatnonzero(split == number) for number, name in enumerate(("train", "val", "test"))}
    return replace(graph, labels=labels, classes=CLASSES, **nodes)


def probabilities(nodes: int) -> np.ndarray:
    values = np.random.default_rng(1).uniform(0.05, 1, (nodes, CLASSES)).astype(np.float32)
    return values / values.sum(axis=1, keepdims=True)


@given(graphs().filter(lambda graph: graph.nodes > 2), st.sampled_from(["auto", 0.0, 1.0, 2.5]), st.booleans())
def test_it_is_pyg_s_correct_and_smooth(graph: Graph, scale: float | str, multilabel: bool) -> None:
    graph, z = with_splits(graph, 0, multilabel), probabilities(graph.nodes)
    matrix = torch.from_numpy(normalized(dense_undirected(graph))).float()
    edges = matrix.nonzero().T
    weights, train = matrix[tuple(edges)], torch.from_numpy(graph.train)
    y = torch.from_numpy(graph.labels[graph.train]).to(torch.float32 if multilabel else torch.long)
    automatic = scale == "auto"
    theirs = PyGCorrectAndSmooth(5, 0.7, 5, 0.6, autoscale=automatic, scale=1.0 if automatic else scale)
    corrected = theirs.correct(torch.from_numpy(z), y, train, edges, weights)
    expected = theirs.smooth(corrected, y, train, edges, weights)
    ours = smoothing(scale=scale).apply(graph, z, ENGINE).scores
    np.testing.assert_allclose(ours, expected.numpy(), atol=1e-4)


@given(graphs().filter(lambda graph: graph.nodes > 2))
def test_without_both_steps_predictions_stay(graph: Graph) -> None:
    graph, z = with_splits(graph, 0), probabilities(graph.nodes)
    ours = smoothing(correct_alpha=0.0, smooth_alpha=0.0).apply(graph, z, ENGINE).scores
    others = np.setdiff1d(np.arange(graph.nodes), graph.train)
    np.testing.assert_array_equal(ours[others], z[others])


@given(graphs().filter(lambda graph: graph.nodes > 2), st.integers(1, 5))
def test_labels_of_validation_and_test_nodes_are_not_propagated(graph: Graph, shift: int) -> None:
    graph, z = with_splits(graph, 0), probabilities(graph.nodes)
    labels = (graph.labels + shift) % CLASSES
    labels[graph.train] = graph.labels[graph.train]
    changed = smoothing().apply(replace(graph, labels=labels), z, ENGINE).scores
    np.testing.assert_array_equal(changed, smoothing().apply(graph, z, ENGINE).scores)


def test_the_combination_with_the_best_validation_accuracy_is_chosen() -> None:
    graph = Communities(nodes=300, edges=900).load()
    z = np.random.default_rng(0).dirichlet(np.ones(graph.classes), graph.nodes).astype(np.float32)
    grid = smoothing(correct_alpha=[0.0, 0.8], scale=["auto", 1.0], smooth_alpha=[0.0, 0.5, 0.9])
    chosen = grid.apply(graph, z, ENGINE)
    alone = {}
    for alpha in (0.0, 0.8):
        for scale in ("auto", 1.0):
            for smooth_alpha in (0.0, 0.5, 0.9):
                one = smoothing(correct_alpha=alpha, scale=scale, smooth_alpha=smooth_alpha).apply(graph, z, ENGINE)
                alone[alpha, scale, smooth_alpha] = one.validation
    assert chosen.validation == max(alone.values()) > alone[0.0, "auto", 0.0]
    best = chosen.chosen
    assert alone[best["correct_alpha"], best["scale"], best["smooth_alpha"]] == chosen.validation


def test_a_graph_without_validation_nodes_is_refused() -> None:
    graph = Communities(nodes=60, edges=90).load()
    with pytest.raises(SignError, match=r"the val split is empty.*smoothing=none"):
        smoothing().apply(replace(graph, val=graph.val[:0]), probabilities(graph.nodes), ENGINE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scale": "large"}, "scale=large: must be auto or a number >= 0"),
        ({"scale": [1.0, -1.0]}, "scale=-1.0: must be a number >= 0"),
        ({"correct_alpha": 1.5}, "correct_alpha=1.5: must be a number >= 0 and <= 1"),
        ({"smooth_alpha": []}, r"smooth_alpha=\[\]: must have at least one value"),
        ({"smooth_normalization": "gcn"}, "smooth_normalization=gcn: choose one of symmetric, row, column"),
        ({"iterations": 0}, "iterations=0"),
    ],
)
def test_a_wrong_setting_is_one_message(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SignError, match=message):
        smoothing(**changes)
