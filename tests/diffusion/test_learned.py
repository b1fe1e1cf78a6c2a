"""Weights of operators are learned once, on training nodes alone, and stored by what they were learned on."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.graphs import rows_of

from sign.datasets.exported_hops import ExportedHops
from sign.datasets.in_memory import InMemory
from sign.datasets.synthetic.communities import Communities
from sign.diffusion.export import export
from sign.diffusion.hops import Hops
from sign.diffusion.learned import training_origin
from sign.diffusion.precompute import Precomputation, diffuse
from sign.engines.local.engine import LocalEngine
from sign.engines.torch import TorchEngine
from sign.graph.classification import classification_of
from sign.graph.csr import CSR
from sign.graph.graph import Graph
from sign.operators.attention import Attention
from sign.store.maintenance import verify
from sign.store.store import Store

QUICK = Attention(units=2, hidden=8, sample=60, epochs=2)


def a_graph(**options: bool) -> Graph:
    return Communities(nodes=150, edges=500, features=10, classes=4, **options).load()


def run(graph: Graph, folder: Path, operator: Attention = QUICK, **store: str) -> Hops:
    classification = classification_of(graph, "standardize")
    return diffuse(classification, {"p": (operator, 2)}, LocalEngine(), Store(str(folder), **store))


def scrambled(graph: Graph, edges: bool) -> Graph:
    """The graph with other labels of held-out nodes, and on request with other features and edges of them, too."""
    rng, held_out = np.random.default_rng(1), np.r_[graph.val, graph.test]
    labels = graph.labels.copy()
    labels[held_out] = 1 - labels[held_out] if graph.multilabel else rng.permutation(labels[held_out])
    if not edges:
        return replace(graph, labels=labels)
    features = graph.features.copy()
    features[held_out] = rng.standard_normal((len(held_out), features.shape[1])) * 100
    rows, columns = graph.adjacency.row_indices(), graph.adjacency.indices
    inside = np.isin(rows, graph.train) & np.isin(columns, graph.train)
    own = rng.integers(0, graph.nodes, len(held_out) * 3)
    source, target = np.r_[rows[inside], np.repeat(held_out, 3)], np.r_[columns[inside], own]
    adjacency = CSR.from_edges(source, target, graph.nodes, both=True)
    return replace(graph, labels=labels, features=features, adjacency=adjacency)


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("inductive", [False, True])
def test_no_label_of_a_held_out_node_changes_a_weight(tmp_path: Path, inductive: bool, multilabel: bool) -> None:
    graph = a_graph(inductive=inductive, multilabel=multilabel)
    first, second = run(graph, tmp_path / "one"), run(scrambled(graph, edges=False), tmp_path / "two")
    assert first.learned["p"].describe() == second.learned["p"].describe()
    for split in ("train", "val", "test"):
        for ours, theirs in zip(rows_of(first, split), rows_of(second, split), strict=True):
            assert (ours == theirs).all()


def test_nothing_of_a_held_out_node_reaches_the_weights_of_an_inductive_run(tmp_path: Path) -> None:
    graph = a_graph(inductive=True)
    first, second = run(graph, tmp_path / "one"), run(scrambled(graph, edges=True), tmp_path / "two")
    assert first.learned["p"].describe() == second.learned["p"].describe()
    for ours, theirs in zip(rows_of(first, "train"), rows_of(second, "train"), strict=True):
        assert (ours == theirs).all()


@pytest.mark.parametrize("multilabel", [False, True])
def test_what_an_operator_is_given_has_no_other_labels(multilabel: bool) -> None:
    graph = a_graph(multilabel=multilabel)
    given = training_origin(classification_of(graph, "none")).graph
    held_out = np.setdiff1d(np.arange(graph.nodes), graph.train)
    assert (given.labels[held_out] == (0 if multilabel else -1)).all()
    assert (given.labels[graph.train] == graph.labels[graph.train]).all()
    assert not len(given.val)
    assert not len(given.test)


def test_a_label_of_a_training_node_does_change_them(tmp_path: Path) -> None:
    graph = a_graph()
    labels = graph.labels.copy()
    labels[graph.train] = np.roll(labels[graph.train], 1)
    one, two = run(graph, tmp_path).learned["p"], run(replace(graph, labels=labels), tmp_path).learned["p"]
    assert one.learned_on != two.learned_on
    assert (one.parameters != two.parameters).any()


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_weights_are_learned_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inductive: bool, dtype: str) -> None:
    graph = a_graph(inductive=inductive)
    first = run(graph, tmp_path, dtype=dtype)
    other = run(graph, tmp_path, replace(QUICK, seed=1), dtype=dtype)
    assert other.computed == 2 * len(classification_of(graph).scopes)  # B X and B² X; the features are found
    monkeypatch.setattr(Attention, "learn", None)
    again = run(graph, tmp_path, dtype=dtype)
    assert not again.computed
    assert again.cost == pytest.approx(first.cost, abs=1e-3)
    assert (again.learned["p"].parameters == first.learned["p"].parameters).all()
    assert verify(tmp_path)[1] == []


def test_every_engine_multiplies_by_the_same_weights(tmp_path: Path) -> None:
    classification = classification_of(a_graph(), "standardize")
    hops = [
        diffuse(classification, {"s": (QUICK, 2)}, engine, Store(str(tmp_path / type(engine).__name__)))
        for engine in (LocalEngine(), TorchEngine())
    ]
    assert hops[0].names == ["X", "s1", "s2"]
    for ours, theirs in zip(*(rows_of(own, "test") for own in hops), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_pack_has_the_weights(tmp_path: Path, dtype: str) -> None:
    dataset = InMemory.of(a_graph(inductive=True))
    source = Precomputation(dataset, {"p": (QUICK, 2)}, LocalEngine(), Store(str(tmp_path / "store"), dtype))
    classification, hops = source.run()
    export(source, classification, hops, tmp_path / "pack")
    pack = ExportedHops(name="x", path=str(tmp_path / "pack"))
    _, read = replace(source, dataset=pack, store=Store(str(tmp_path / "other"))).run()
    assert not read.computed
    assert read.learned["p"].describe() == hops.learned["p"].describe()
