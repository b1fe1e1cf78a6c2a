"""Self-training: each stage also trains on the confident predictions of the stage before it."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from common.graphs import dense_undirected, normalized
from common.trained import settings_of

from sign.config.configure import compose
from sign.config.settings import Settings
from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.experiments import run as run_module
from sign.experiments.run import prepare, run
from sign.experiments.series import plan, train_series
from sign.graph.pseudo_labels import PseudoLabels
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.settings import Prediction
from sign.runs import METRICS, Run, find_runs
from sign.training.datamodule import SIGNDataModule
from sign.training.task import SIGNTask

Configured = Callable[..., Settings]
GRAPH = ("dataset=communities", "dataset.nodes=300", "dataset.edges=600", "dataset.classes=4", "tuned=null")
SMALL = ("model.p=1", "model.inception_units=32", "model.classification_units=32", "training.batch_size=32")
STAGES = (
    *GRAPH,
    *SMALL,
    "model.l=1",
    "training.max_epochs=4",
    "training.stages=3",
    "training.confidence=0.6",
    "training.learning_rate=0.02",
)


def folder_of(settings: Settings) -> Path:
    (folder,) = (settings.output_dir / settings.dataset.name / settings.slug).iterdir()
    return folder


def learned(metrics: dict[str, float]) -> dict[str, float]:
    """The metrics that do not depend on the machine."""
    return {name: value for name, value in metrics.items() if name.split("/")[-1] not in ("epoch", "peak_bytes")
            and not name.startswith(("seconds", "memory"))}  # fmt: skip


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(torch.load(folder / "checkpoints" / "best.ckpt", weights_only=True)["state_dict"])


def label_hop(data: SIGNDataModule) -> np.ndarray:
    """The only label hop of the nodes of a prepared run, by node."""
    hops, (scope,) = data.hops, data.classification.scopes
    number = hops.names.index("l1")
    found = np.zeros((scope.nodes, data.classification.classes), np.float32)
    for split, nodes in scope.rows.items():
        found[nodes] = hops.arrays[split][number][hops.rows[split][number]]
    return found


def test_the_second_stage_trains_on_the_training_nodes_and_the_confident_predictions_alone(
    configured: Configured,
) -> None:
    settings = configured(*STAGES)
    metrics = run(settings)
    folder, graph = folder_of(settings), settings.dataset.load()
    network = SIGNTask.load_from_checkpoint(folder / "checkpoints" / "best.ckpt", weights_only=True).eval()
    first = prepare(settings)
    expected = {}
    for split in ("val", "test"):
        with torch.no_grad():
            confidence, label = network(first.loaders[split].rows[:]).softmax(1).max(1)
        sure = confidence.numpy() >= 0.6
        expected |= dict(zip(graph.nodes_of(split)[sure].tolist(), label.numpy()[sure].tolist(), strict=True))
    assert 10 < len(expected) < len(graph.val) + len(graph.test)
    assert metrics["stage2/pseudo_labels"] == len(expected)
    pseudo = PseudoLabels.load(folder / "stage2" / "pseudo_labels.npz")
    assert dict(zip(pseudo.nodes.tolist(), pseudo.labels.tolist(), strict=True)) == expected
    second = prepare(replace(settings, pseudo_labels=folder / "stage2" / "pseudo_labels.npz"))
    assert isinstance(second, SIGNDataModule)
    labels = {int(node): int(graph.labels[node]) for node in graph.train} | expected
    (scope,) = second.classification.scopes
    assert dict(zip(scope.rows["train"].tolist(), second.labels("train").tolist(), strict=True)) == labels
    for split in ("val", "test"):
        np.testing.assert_array_equal(second.labels(split), graph.labels[graph.nodes_of(split)])
    # label hops are the formula with the labels of both, each node without those of its own fold
    nodes = np.array(sorted(labels))
    values = np.zeros((graph.nodes, graph.classes))
    values[nodes, [labels[node] for node in nodes.tolist()]] = 1
    fold = settings.powers["l"][0].folds.of(graph, nodes)  # type: ignore[attr-defined]
    dense = normalized(dense_undirected(graph) + np.eye(graph.nodes))
    rows = label_hop(second)
    for node in range(0, graph.nodes, 7):
        visible = np.isin(np.arange(graph.nodes), nodes) & (fold != fold[node])
        weight = len(nodes) / visible.sum()
        np.testing.assert_allclose(rows[node], weight * (dense[node] * visible) @ values, atol=1e-5)


def test_true_labels_of_other_splits_change_nothing_in_training(configured: Configured, tmp_path: Path) -> None:
    settings = configured(*STAGES, "training.max_epochs=1", "training.confidence=0.3")
    # one epoch, because validation labels choose the best one
    graph = settings.dataset.load()
    flipped = graph.labels.copy()
    others = np.concatenate([graph.val, graph.test])
    flipped[others] = (graph.labels[others] + 1) % graph.classes
    folders = []
    for number, labels in enumerate((graph.labels, flipped)):
        folders.append(tmp_path / str(number) / "run")
        own = replace(graph, labels=labels)
        store = replace(settings.store, root=str(tmp_path / str(number) / "store"))
        run(replace(settings, dataset=InMemory.of(own), store=store, run_folder=folders[-1]))
    for stage in ("", "stage2", "stage3"):
        ours, theirs = (weights(folder / stage) for folder in folders)
        for name, values in ours.items():
            assert torch.equal(values, theirs[name]), (stage, name)
    ours, theirs = (Run(folder).metrics or {} for folder in folders)
    assert ours["stage1/test/accuracy"] != theirs["stage1/test/accuracy"]


def test_a_run_killed_in_a_later_stage_ends_like_an_uninterrupted_one(
    configured: Configured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = run(configured(*STAGES, f"paths.output_dir={tmp_path / 'whole'}"))
    settings, fit, calls = configured(*STAGES), run_module.fit_and_test, []

    def killed(training: object, *rest: object) -> dict[str, float]:
        calls.append(rest)
        if len(calls) == 2:
            fit(replace(training, max_epochs=2), *rest)  # type: ignore[type-var, arg-type]
            raise KeyboardInterrupt
        return fit(training, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(run_module, "fit_and_test", killed)
    with pytest.raises(KeyboardInterrupt):
        run(settings)
    monkeypatch.undo()
    folder = folder_of(settings)
    assert not (folder / METRICS).exists()
    assert len(Run(folder / "stage2").epochs()) == 2
    resumed = run(configured(f"ckpt_path={folder}"))
    assert learned(resumed) == learned(whole)
    assert len(Run(folder / "stage2").epochs()) == 4


@pytest.mark.parametrize("damaged", [False, True], ids=["complete", "damaged"])
def test_a_finished_run_that_is_resumed_keeps_its_numbers(configured: Configured, damaged: bool) -> None:
    settings = configured(*STAGES)
    metrics = run(settings)
    assert metrics["stage"] > 1  # whose network must not choose the pseudo labels of the second stage again
    folder = folder_of(settings)
    if damaged:
        (folder / "stage2" / "checkpoints" / "last.ckpt").write_bytes(b"cut short")
    assert learned(run(configured(f"ckpt_path={folder}"))) == learned(metrics)


def test_the_best_stage_is_the_result_for_evaluation_and_predictions(configured: Configured, tmp_path: Path) -> None:
    settings = configured(*STAGES)
    metrics = run(settings)
    folder, best = folder_of(settings), int(metrics["stage"])
    losses = [metrics[f"stage{number}/val/loss"] for number in (1, 2, 3)]
    assert metrics["val/loss"] == min(losses) == losses[best - 1] < losses[0]
    assert json.loads((folder / METRICS).read_text()) == metrics
    assert Run(folder).best_stage.folder == folder / f"stage{best}"
    assert (folder / "per_class.csv").read_text() == (folder / f"stage{best}" / "per_class.csv").read_text()
    again, model = settings_of(folder), TrainedModel.load(folder)
    for name, value in evaluate(again, model).items():
        assert metrics[name] == pytest.approx(value, abs=1e-6), name
    output = tmp_path / "classes.npy"
    predict(again, model, Prediction(run=str(folder), nodes="test", output=str(output)))
    graph = settings.dataset.load()
    assert (np.load(output) == graph.labels[graph.test]).mean() == pytest.approx(metrics["test/accuracy"], abs=1e-6)
    assert [found.folder for found in find_runs([folder])] == [folder]


@pytest.mark.parametrize(
    "model", [("model=sagn", "model.units=8"), ("model=gamlp", "model.units=8"), ("smoothing=correct_and_smooth",)]
)
def test_other_heads_and_smoothed_predictions_have_stages(configured: Configured, model: tuple[str, ...]) -> None:
    head = () if model[0].startswith("model") else SMALL
    metrics = run(configured(*GRAPH, *model, *head, "model.p=1", "training.max_epochs=3", "training.stages=2",
                             "training.confidence=0.3"))  # fmt: skip
    assert metrics["stage2/pseudo_labels"] > 0
    assert metrics["val/loss"] == min(metrics["stage1/val/loss"], metrics["stage2/val/loss"])


def test_each_run_of_a_series_has_stages(configured: Configured) -> None:
    paths = [f"paths.{kind}_dir={configured().output_dir.parent / kind}" for kind in ("data", "store", "output")]
    series = train_series(plan(compose("logger=csv", *paths, *STAGES, "runs=2", "training.stages=2")))
    for member in series.runs:
        alone = run(configured(*STAGES, "training.stages=2", f"seed={member.description['seed']}"))
        assert learned(member.metrics or {}) == learned(alone)
    assert series.metrics["stage2/pseudo_labels"]["mean"] > 0


def test_weights_and_biases_has_one_run_per_stage(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "WANDB_MODE", "offline")
    settings = configured(*STAGES, "training.stages=2", "logger=wandb")
    run(settings)
    folder = folder_of(settings)
    ids = [(folder / stage / "wandb-id.txt").read_text() for stage in ("", "stage2")]
    assert ids[0] != ids[1]
    for stage, name in zip(("", "stage2"), ids, strict=True):
        assert list((folder / stage / "wandb").glob(f"offline-run-*-{name.strip()}"))


def test_without_a_confident_prediction_the_first_stage_is_the_result(configured: Configured) -> None:
    metrics = run(configured(*STAGES, "training.confidence=1.0", "training.max_epochs=1"))
    assert metrics["stage"] == 1
    assert "stage2/val/loss" not in metrics


def test_where_stages_make_no_sense_they_are_refused(configured: Configured) -> None:
    for overrides, message in (
        (["model=graphsage"], r"training.stages=3: GraphSAGE is not trained on hops; use training.stages=1"),
        (["dataset.inductive=true"], "hides; use dataset.inductive=false, or training.stages=1"),
        (["training.confidence=1.5"], "training.confidence=1.5"),
    ):
        with pytest.raises(SignError, match=message):
            configured(*GRAPH, "training.stages=3", *overrides)
    with pytest.raises(SignError, match=r"training.stages=3: communities is multilabel, so no class"):
        prepare(configured(*STAGES, "dataset.multilabel=true"))
