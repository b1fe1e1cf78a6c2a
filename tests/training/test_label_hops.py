"""Runs whose networks read label hops."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from common.trained import SMALL, settings_of, train

from sign.config.settings import Settings
from sign.datasets.in_memory import InMemory
from sign.diffusion.export import export
from sign.diffusion.labels import LabelDiffusion
from sign.errors import SignError
from sign.experiments.run import run
from sign.models.sign import SIGN
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.settings import Prediction
from sign.runs import Run
from sign.training.settings import Training
from sign.training.task import SIGNTask

GRAPH = ("dataset=communities", "dataset.nodes=300", "dataset.edges=1500")
Configured = Callable[..., Settings]


@pytest.mark.parametrize("inductive", [False, True])
def test_a_run_reads_label_hops_and_predicts_with_them(tmp_path: Path, inductive: bool) -> None:
    folder = train(tmp_path, *GRAPH, f"dataset.inductive={inductive}", "model.l=2", "training.label_dropout=0.3")
    settings, model, metrics = settings_of(folder), TrainedModel.load(folder), Run(folder).metrics or {}
    assert model.hops == {"X": 50, "p1": 50, "l1": 10, "l2": 10}
    assert settings.title == "SIGN(1,0,0,l=2)"
    for name, value in evaluate(settings, model).items():
        assert metrics[name] == pytest.approx(value, abs=1e-6)
    output = tmp_path / "classes.npy"
    predict(settings, model, Prediction(run=str(folder), nodes="test", output=str(output)))
    graph = settings.dataset.load()
    assert (np.load(output) == graph.labels[graph.test]).mean() == pytest.approx(metrics["test/accuracy"], abs=1e-6)


def test_dropped_labels_are_zero_in_some_training_rows_and_in_no_others() -> None:
    training = Training(0.01, 0.0, 8, 1, 1, "val/loss", label_dropout=0.5)
    hops = {"X": 2, "l1": 3, "l2": 3}
    head = SIGN(0, 1, 0, 1, "relu", 0.0, 0.0, False)
    task = SIGNTask(2, hops, 3, False, head.to_plain(), asdict(training))
    torch.manual_seed(0)
    rows = task._without_some_labels(torch.ones(200, 8))
    assert (rows[:, :2] == 1).all()
    dropped = (rows[:, 2:] == 0).all(dim=1)
    assert 60 < int(dropped.sum()) < 140
    assert (rows[~dropped] == 1).all()
    assert task.eval()._without_some_labels(torch.ones(200, 8)).eq(1).all()


def test_exported_hops_have_the_label_hops(configured: Configured, tmp_path: Path) -> None:
    settings = configured(*GRAPH, *SMALL, "tuned=null", "model.l=1")
    expected = run(settings)
    classification, hops = settings.precomputation.run()
    export(settings.precomputation, classification, hops, tmp_path / "pack")
    pack = configured("dataset=pack", f"dataset.path={tmp_path / 'pack'}", *SMALL, "tuned=null", "model.l=1")
    assert run(pack)["test/accuracy"] == pytest.approx(expected["test/accuracy"], abs=1e-6)


def test_settings_of_label_hops_are_checked(configured: Configured) -> None:
    operator, power = configured("model.l=2", "model.labels.folds=7").powers["l"]
    assert isinstance(operator, LabelDiffusion)
    assert (operator.folds.folds, power) == (7, 2)
    for overrides, message in (
        (["model.labels.folds=1"], r"model.labels.folds=1: must be an integer >= 2"),
        (["model.labels=null"], "model.labels=None: label hops need"),
        (["training.label_dropout=0.5"], "has no label hops; use model.l=1"),
        (["model.l=1", "training.label_dropout=1"], "training.label_dropout=1: must be a number >= 0 and < 1"),
        (["model.l=-1"], "model.l=-1: a power must be an integer >= 0"),
    ):
        with pytest.raises(SignError, match=message):
            configured(*overrides)


def test_a_graph_without_labels_cannot_be_scored_by_a_model_that_reads_them(tmp_path: Path) -> None:
    folder = train(tmp_path, *GRAPH, "model.l=1")
    settings, model = settings_of(folder), TrainedModel.load(folder)
    graph = settings.dataset.load()
    nothing = np.empty(0, np.int64)
    bare = replace(graph, labels=np.full_like(graph.labels, -1), train=nothing, val=nothing, test=nothing)
    other = replace(settings, dataset=InMemory.of(bare))
    request = Prediction(run=str(folder), output=str(tmp_path / "x.npy"))
    with pytest.raises(SignError, match=r"0 training nodes have labels to diffuse, but the model reads label hops"):
        predict(other, model, request)
