from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.graphs import applied, graphs, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.diffusion.labels import LabelDiffusion, LabelFolds, VisibleLabels
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.engines.torch import TorchEngine
from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.graph import SPLITS, Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.attention import Attention
from sign.operators.base import Operator
from sign.operators.heat import HeatKernel
from sign.operators.ppr import PersonalizedPageRank
from sign.store.store import Store
from sign.testing import graph_of

CLASSES, POWER = 3, 3
FOLDS = LabelFolds(3, 0)
OPERATORS = [NormalizedAdjacency(), NormalizedAdjacency("row"), PersonalizedPageRank(alpha=0.3), HeatKernel()]


def with_labels(graph: Graph, multilabel: bool = False, inductive: bool = False) -> Graph:
    """A graph with random labels, of which every third node is not in training."""
    rng = np.random.default_rng(0)
    shape = (graph.nodes, CLASSES) if multilabel else graph.nodes
    nodes = np.arange(graph.nodes)
    splits = {"train": nodes[nodes % 3 != 2], "val": nodes[nodes % 6 == 2], "test": nodes[nodes % 6 == 5]}
    labels = rng.integers(0, 2 if multilabel else CLASSES, shape)
    return replace(graph, labels=labels, classes=CLASSES, inductive=inductive, **splits)


def label_hops(graph: Graph, folder: Path, operator: Operator = OPERATORS[0], power: int = POWER, **store: str) -> Hops:
    engine = store.pop("engine", None) or LocalEngine(threads=1)
    powers = {"l": (LabelDiffusion(operator, FOLDS), power)}
    return diffuse(classification_of(graph, "none"), powers, engine, Store(str(folder), **store))


def label_rows(hops: Hops, split: str) -> list[np.ndarray]:
    """The rows of a split in each label hop."""
    return rows_of(hops, split)[1:]


@settings(max_examples=12)
@given(graphs().filter(lambda graph: graph.nodes > 3), st.sampled_from(OPERATORS), st.booleans(), st.booleans())
def test_rows_are_the_formula_with_the_labels_of_other_folds(
    tmp_path_factory: pytest.TempPathFactory, graph: Graph, operator: Operator, multilabel: bool, inductive: bool
) -> None:
    graph = with_labels(graph, multilabel, inductive)
    hops = label_hops(graph, tmp_path_factory.mktemp("store"), operator)
    for split in SPLITS:
        seen = graph.induced_by_training() if inductive and split == "train" else graph
        matrix, fold = applied(operator.resolve(inductive), seen), FOLDS.of(seen, seen.train)
        one_hot = np.eye(CLASSES)[seen.labels] if seen.labels.ndim == 1 else seen.labels.astype(float)
        for row, node in enumerate(seen.nodes_of(split)):
            visible = np.isin(np.arange(seen.nodes), seen.train) & (fold != fold[node])
            labels = one_hot * visible[:, None] * len(seen.train) / max(visible.sum(), 1)
            for power, rows in enumerate(label_rows(hops, split), start=1):
                expected = np.linalg.matrix_power(matrix, power)[node] @ labels
                np.testing.assert_allclose(rows[row], expected, atol=1e-4)


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("multilabel", [False, True])
def test_no_training_row_changes_with_the_label_of_its_node(tmp_path: Path, multilabel: bool, inductive: bool) -> None:
    ring = [(node, (node + step) % 9) for node in range(9) for step in (1, 2)]
    graph = with_labels(graph_of(ring, 9), multilabel, inductive)
    before = label_rows(label_hops(graph, tmp_path), "train")
    for row, node in enumerate(graph.train):
        labels = graph.labels.copy()
        labels[node] = 1 - labels[node] if multilabel else (labels[node] + 1) % CLASSES
        changed = label_rows(label_hops(replace(graph, labels=labels), tmp_path), "train")
        for ours, theirs in zip(before, changed, strict=True):
            np.testing.assert_array_equal(ours[row], theirs[row])
            assert (ours != theirs).any()  # rows of other nodes do


@settings(max_examples=8)
@given(graphs().filter(lambda graph: graph.nodes > 3), st.sampled_from(OPERATORS), st.booleans())
def test_rows_of_a_fold_change_with_no_label_of_it(
    tmp_path_factory: pytest.TempPathFactory, graph: Graph, operator: Operator, inductive: bool
) -> None:
    graph, folder = with_labels(graph, inductive=inductive), tmp_path_factory.mktemp("store")
    before, fold = label_rows(label_hops(graph, folder, operator), "train"), FOLDS.of(graph, graph.train)
    for number in range(FOLDS.folds):
        labels = np.where(fold == number, (graph.labels + 1) % CLASSES, graph.labels)
        changed = label_rows(label_hops(replace(graph, labels=labels), folder, operator), "train")
        for ours, theirs in zip(before, changed, strict=True):
            same = fold[graph.train] == number
            np.testing.assert_array_equal(ours[same], theirs[same])


def test_labels_outside_of_training_are_in_no_row(tmp_path: Path) -> None:
    for inductive in (False, True):
        graph = replace(Communities(nodes=200, edges=600).load(), inductive=inductive)
        labels = (graph.labels + 1) % graph.classes
        labels[graph.train] = graph.labels[graph.train]
        hops = label_hops(graph, tmp_path / f"{inductive}-first")
        other = label_hops(replace(graph, labels=labels), tmp_path / f"{inductive}-second")
        for split in SPLITS:
            for ours, theirs in zip(label_rows(hops, split), label_rows(other, split), strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_inductive_training_rows_know_nothing_of_held_out_nodes(tmp_path: Path) -> None:
    graph = replace(Communities(nodes=200, edges=600).load(), inductive=True)
    alone = label_hops(graph, tmp_path / "whole")
    induced = graph.induced_by_training()
    inside = label_hops(replace(induced, inductive=False), tmp_path / "inside")
    for ours, theirs in zip(label_rows(alone, "train"), label_rows(inside, "train"), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_stored_hops_are_found_by_labels_folds_and_operator(tmp_path: Path) -> None:
    graph = Communities(nodes=200, edges=600).load()
    label_hops(graph, tmp_path, power=1)
    more = label_hops(graph, tmp_path)
    assert (more.computed, more.found) == (2, 2)
    again = label_hops(replace(graph, features=graph.features + 1), tmp_path)
    assert again.computed == 1  # the features; labels do not depend on them
    labels = graph.labels.copy()
    labels[graph.train[0]] = (labels[graph.train[0]] + 1) % graph.classes
    assert label_hops(replace(graph, labels=labels), tmp_path).computed == POWER
    other = {"l": (LabelDiffusion(OPERATORS[0], LabelFolds(3, 1)), POWER)}
    hops = diffuse(classification_of(graph, "none"), other, LocalEngine(), Store(str(tmp_path)))
    assert hops.computed == POWER


def test_engines_stores_and_used_rows_agree(tmp_path: Path) -> None:
    graph = Communities(nodes=400, edges=900).load()
    graph = replace(graph, train=graph.train[:20], val=graph.val[:5], test=graph.test[:5])
    reference = label_hops(graph, tmp_path / "used")
    assert reference.every[1].array.shape == (30, graph.classes)
    versions = {
        "all": label_hops(graph, tmp_path / "all", rows="all"),
        "torch": label_hops(graph, tmp_path / "torch", engine=TorchEngine()),
        "half": label_hops(graph, tmp_path / "half", dtype="float16"),
    }
    for name, hops in versions.items():
        for split in SPLITS:
            for ours, theirs in zip(label_rows(reference, split), label_rows(hops, split), strict=True):
                np.testing.assert_allclose(theirs, ours, atol=1e-2 if name == "half" else 1e-6)


def fitted(rows: np.ndarray, labels: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The classes that a linear model, fitted to rows and labels by least squares, gives to other rows."""
    ones = np.ones((len(rows), 1))
    weights = np.linalg.lstsq(np.hstack([rows, ones]), np.eye(labels.max() + 1)[labels], rcond=None)[0]
    return (np.hstack([others, ones[:1].repeat(len(others), 0)]) @ weights).argmax(axis=1)


def test_random_labels_cannot_be_learned_from_label_hops(tmp_path: Path) -> None:
    graph = Communities(nodes=4000, edges=20000, classes=4).load()
    labels = np.random.default_rng(0).integers(0, 4, graph.nodes)
    graph = replace(graph, labels=labels)
    hops = label_hops(graph, tmp_path, NormalizedAdjacency())
    train, val = (np.hstack(label_rows(hops, split)).astype(np.float64) for split in ("train", "val"))
    own = labels[graph.train]
    deviation = (0.25 * 0.75 / len(graph.val)) ** 0.5
    assert abs((fitted(train, own, val) == labels[graph.val]).mean() - 0.25) < 3 * deviation
    assert (fitted(train, own, train) == own).mean() < 0.35  # nothing to remember, either
    leaking = np.eye(4)[labels]
    leaking[np.setdiff1d(np.arange(graph.nodes), graph.train)] = 0
    leaks = NormalizedAdjacency().matrix(graph).to_scipy() @ leaking
    assert (fitted(leaks[graph.train], own, leaks[graph.train]) == own).mean() > 0.5  # with the own label there is


def test_a_subtracted_diagonal_would_leave_a_trace_that_folds_do_not() -> None:
    nodes = 200
    labels = np.random.default_rng(0).integers(0, 4, nodes)
    one_hot = np.eye(4)[labels]
    mean = np.full((nodes, nodes), 1 / nodes)
    subtracted = (mean - np.diag(mean.diagonal())) @ one_hot
    assert (fitted(subtracted, labels, subtracted) == labels).all()  # the class that is missing from the row
    nothing = np.array([], int)
    graph = replace(Communities(nodes=nodes, edges=10).load(), train=np.arange(nodes), val=nothing, test=nothing)
    fold = LabelFolds(5, 0).of(graph, graph.train)
    masked = np.stack([mean[node] @ (one_hot * (fold != fold[node])[:, None]) for node in range(nodes)])
    assert (fitted(masked, labels, masked) == labels).mean() < 0.45


@pytest.mark.parametrize("multilabel", [False, True])
def test_blocks_of_visible_labels_are_parts_of_the_dense_matrix(multilabel: bool) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, (6, 4)) if multilabel else np.array([0, 3, -1, 2, 1, 0])
    visible = np.array([True, True, False, True, False, True])
    x = VisibleLabels(labels, 4, visible, 1.5)
    dense = np.where(visible[:, None], 1.5 * (labels if multilabel else np.eye(4)[labels]), 0)
    assert x.shape == dense.shape
    np.testing.assert_array_equal(x[slice(1, 5), slice(1, 3)], dense[1:5, 1:3])
    np.testing.assert_array_equal(x[slice(None), slice(None)], dense)


def test_no_group_is_in_two_folds_and_folds_are_about_equal() -> None:
    rng = np.random.default_rng(0)
    graph = Communities(nodes=2000, edges=4000).load()
    graph = replace(graph, groups=rng.integers(0, 500, graph.nodes) * 7)
    folds = LabelFolds(5, 3, "groups")
    fold, groups = folds.of(graph, graph.train)[graph.train], graph.groups[graph.train]
    assert len(set(zip(groups.tolist(), fold.tolist(), strict=True))) == len(np.unique(groups))
    sizes = np.bincount(fold, minlength=5)
    assert abs(sizes - sizes.mean()).max() < 20
    assert (folds.of(graph, graph.train)[np.setdiff1d(np.arange(graph.nodes), graph.train)] == 5).all()
    assert not np.array_equal(fold, LabelFolds(5, 4, "groups").of(graph, graph.train)[graph.train])


@pytest.mark.parametrize("inductive", [False, True])
def test_with_groups_a_training_row_sees_no_label_of_its_group_as_a_test_row_does(
    tmp_path: Path, inductive: bool
) -> None:
    graph = Communities(nodes=300, edges=1500).load()
    graph = replace(graph, groups=np.arange(graph.nodes) // 4, inductive=inductive)
    assert graph.groups is not None

    def rows(graph: Graph, by: str) -> list[np.ndarray]:
        powers = {"l": (LabelDiffusion(OPERATORS[0], LabelFolds(3, 0, by)), POWER)}  # type: ignore[arg-type]
        hops = diffuse(classification_of(graph, "none"), powers, LocalEngine(threads=1), Store(str(tmp_path)))
        return label_rows(hops, "train")

    groups = graph.groups[graph.train]
    group = np.bincount(groups).argmax()
    own = groups == group
    labels = graph.labels.copy()
    labels[graph.train[own]] = (labels[graph.train[own]] + 1) % graph.classes
    changed = replace(graph, labels=labels)
    for before, after in zip(rows(graph, "groups"), rows(changed, "groups"), strict=True):
        np.testing.assert_array_equal(before[own], after[own])
    assert any(
        (before[own] != after[own]).any()
        for before, after in zip(rows(graph, "nodes"), rows(changed, "nodes"), strict=True)
    )
    regrouped = rows(replace(graph, groups=np.arange(graph.nodes) // 5), "groups")
    assert any((one != other).any() for one, other in zip(rows(graph, "groups"), regrouped, strict=True))


def test_groups_that_cannot_be_divided_are_one_message(tmp_path: Path) -> None:
    graph, folds = Communities(nodes=50, edges=90).load(), LabelFolds(3, 0, "groups")
    with pytest.raises(SignError, match=r"communities has no groups of nodes; name them in dataset.groups"):
        folds.of(graph, graph.train)
    with pytest.raises(SignError, match=r"all training nodes are in one group"):
        folds.of(replace(graph, groups=np.zeros(50, np.int64)), graph.train)
    with pytest.raises(SignError, match=r"groups of type float64 and shape \(50,\) for 50 nodes"):
        replace(graph, groups=np.zeros(50))


def test_a_graph_without_labels_and_an_operator_that_learns_are_refused(tmp_path: Path) -> None:
    graph = Communities(nodes=50, edges=90).load()
    with pytest.raises(SignError, match=r"1 training nodes have labels to diffuse.*model.l"):
        label_hops(replace(graph, train=graph.train[:1]), tmp_path)
    with pytest.raises(SignError, match=r"operators.l=attention: learns its weights from labels"):
        LabelDiffusion(Attention(), FOLDS)
