"""Laplacian positions are the eigenvectors of the dense Laplacian, and belong to one graph."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.graphs import dense_undirected, graphs, inverse, normalized, partly_used
from common.trained import SMALL, settings_of
from hypothesis import assume, given, settings

from sign.config.settings import Settings
from sign.datasets.synthetic.communities import Communities
from sign.diffusion import positions
from sign.diffusion.positions import LaplacianPositions
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.experiments.run import run
from sign.graph.classification import classification_of
from sign.graph.graph import Graph
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.store.store import Store
from sign.system import memory
from sign.testing import graph_of, path

GRAPH = ("dataset=communities", "dataset.nodes=300", "dataset.edges=1500")


def spectrum(graph: Graph) -> np.ndarray:
    """The eigenvalues of the normalised adjacency in falling order, without a 1 for each component with edges."""
    weights = dense_undirected(graph)
    used = weights.sum(axis=1) > 0
    values = np.linalg.eigvalsh(normalized(weights)[np.ix_(used, used)])[::-1]
    return values[values < 1 - 1e-6]


@settings(max_examples=12)
@given(graphs())
def test_positions_are_eigenvectors_with_the_largest_eigenvalues_below_one(graph: Graph) -> None:
    expected = spectrum(graph)
    assume(len(expected) >= 2)
    vectors = LaplacianPositions(2).of(graph).astype(np.float64)
    matrix = normalized(dense_undirected(graph))
    for column, value in zip(vectors.T, expected, strict=False):
        np.testing.assert_allclose(matrix @ column, value * column, atol=2e-3)
    np.testing.assert_allclose(vectors.T @ vectors / graph.nodes, np.eye(2), atol=1e-4)
    trivial = np.sqrt(dense_undirected(graph).sum(axis=1))
    np.testing.assert_allclose(trivial @ vectors, 0, atol=1e-3)


def test_a_sparse_solution_is_the_dense_one_up_to_the_sign_that_is_fixed() -> None:
    graph = Communities(nodes=400, edges=1600).load()
    values, vectors = np.linalg.eigh(normalized(dense_undirected(graph)))
    order = np.argsort(-values)[values[np.argsort(-values)] < 1 - 1e-8][:6]
    found = LaplacianPositions(6).of(graph)
    for ours, theirs in zip(found.T, vectors[:, order].T, strict=True):
        assert abs(ours @ theirs) / np.sqrt(graph.nodes) == pytest.approx(1, abs=1e-4)
        assert ours[np.abs(ours).argmax()] > 0
    np.testing.assert_array_equal(found, LaplacianPositions(6).of(graph))


def test_on_a_path_the_first_position_orders_the_nodes_and_nodes_without_edges_have_none() -> None:
    line = LaplacianPositions(1).of(path(9))[:, 0] * inverse(np.array([1, *[2] * 7, 1]), 0.5)
    assert (np.diff(line) < 0).all()  # the first of two equally large entries is positive
    alone = graph_of([(0, 1), (1, 2), (2, 3)], 6)
    np.testing.assert_allclose(LaplacianPositions(2).of(alone)[4:], 0, atol=1e-6)


def test_what_cannot_be_computed_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SignError, match=r"has 4 nodes in 1 components, which have at most 3 positions"):
        LaplacianPositions(4).of(path(4))
    with memory.limit(memory.resident() + 1000, tmp_path), pytest.raises(SignError, match=r"raise engine.memory"):
        LaplacianPositions(3).of(path(50))
    monkeypatch.setattr(positions, "MAX_RESTARTS", 1)
    monkeypatch.setattr(positions, "TOLERANCE", 0)
    with pytest.raises(SignError, match=r"did not converge in 1 restarts; lower model.positions"):
        LaplacianPositions(20).of(Communities(nodes=2000, edges=5000).load())


def test_positions_are_stored_by_edges_and_number_whatever_the_features_are(tmp_path: Path) -> None:
    graph, folder = partly_used(), Store(str(tmp_path))

    def hops(graph: Graph, count: int = 3, rows: str = "used"):  # type: ignore[no-untyped-def]
        powers = {"e": (LaplacianPositions(count), 1)}
        return diffuse(classification_of(graph, "none"), powers, LocalEngine(threads=1), replace(folder, rows=rows))  # type: ignore[arg-type]

    first = hops(graph)
    assert (first.names, first.computed) == (["X", "e1"], 2)
    expected = LaplacianPositions(3).of(graph)
    for split in ("train", "val", "test"):
        found = first.arrays[split][1][first.rows[split][1]]
        np.testing.assert_array_equal(found, expected[graph.nodes_of(split)])
    assert hops(replace(graph, features=graph.features + 1)).computed == 1
    assert hops(graph, count=4).computed == 1
    assert hops(graph, rows="all").computed == 2
    assert hops(Communities(nodes=400, edges=901, features=24).load()).computed == 2


@pytest.mark.parametrize("model", [("model=nagphormer", "model.units=8"), SMALL], ids=["nagphormer", "sign"])
def test_a_run_with_positions_is_evaluated_on_its_graph_and_on_no_other(
    configured: Callable[..., Settings], tmp_path: Path, model: tuple[str, ...]
) -> None:
    folder, short = tmp_path / "run", ("model.p=1", "model.positions=4", "training.max_epochs=2", "tuned=null")
    metrics = run(replace(configured(*GRAPH, *model, *short), run_folder=folder))
    loaded, trained = TrainedModel.load(folder), settings_of(folder)
    assert loaded.hops == {"X": 50, "p1": 50, "e1": 4}
    for name, value in evaluate(trained, loaded).items():
        assert metrics[name] == pytest.approx(value, abs=1e-6)
    other = replace(trained, dataset=replace(trained.dataset, edges=1501))  # type: ignore[call-arg]
    with pytest.raises(SignError, match=r"positions, which mean nothing in another graph"):
        evaluate(other, loaded)


def test_positions_are_refused_where_they_cannot_be_compared(configured: Callable[..., Settings]) -> None:
    with pytest.raises(SignError, match=r"^model.positions=4: those of the training graph .* dataset.inductive=false"):
        configured(*GRAPH, "model.positions=4", "dataset.inductive=true")
    with pytest.raises(SignError, match=r"model.positions=-1: must be an integer >= 0"):
        configured(*GRAPH, "model.positions=-1")
    with pytest.raises(SignError, match=r"model.operators.e: is the letter of model.positions"):
        configured(*GRAPH, "model.positions=2", "+operator@model.operators.e=heat", "+model.e=1")
