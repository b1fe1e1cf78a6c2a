import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.trained import settings_of, train

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments.run import run
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.settings import Prediction
from sign.runs import RAW, SMOOTHING, Run
from sign.smoothing.base import NoSmoothing

SMOOTH = "smoothing=correct_and_smooth"
GRAPH = ("dataset=communities", "dataset.nodes=300", "dataset.edges=1500")
CANDIDATES = ("smoothing.correct_alpha=[0.0,0.8]", "smoothing.smooth_alpha=[0.0,0.8]", "smoothing.iterations=10")
Configured = Callable[..., Settings]


@pytest.fixture(scope="module", params=["transductive", "inductive", "multilabel"])
def smoothed_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    options = {"inductive": ["dataset.inductive=true"], "multilabel": ["dataset.multilabel=true"]}
    folder = tmp_path_factory.mktemp(request.param)
    return Run(train(folder, *GRAPH, SMOOTH, *CANDIDATES, *options.get(request.param, [])))


def test_both_models_are_recorded_and_smoothing_is_not_worse_on_validation_nodes(smoothed_run: Run) -> None:
    metrics = smoothed_run.metrics or {}
    score = "accuracy" if "val/accuracy" in metrics else "micro_f1"
    assert metrics[f"val/{score}"] >= metrics[f"{RAW}val/{score}"]
    assert {name.removeprefix(RAW) for name in metrics if name.startswith(RAW)} <= set(metrics)
    chosen = json.loads((smoothed_run.folder / SMOOTHING).read_text())
    assert chosen["validation"] == pytest.approx(metrics[f"val/{score}"], abs=1e-6)


def test_the_raw_metrics_are_those_of_the_same_run_without_smoothing(smoothed_run: Run) -> None:
    model = TrainedModel.load(smoothed_run.folder)
    without = evaluate(replace(settings_of(smoothed_run.folder), smoothing=NoSmoothing()), model)
    metrics = smoothed_run.metrics or {}
    for name, value in without.items():
        assert metrics[f"{RAW}{name}"] == pytest.approx(value, abs=1e-6), name


def test_evaluating_the_run_smooths_again(smoothed_run: Run) -> None:
    again = evaluate(settings_of(smoothed_run.folder), TrainedModel.load(smoothed_run.folder))
    metrics = smoothed_run.metrics or {}
    for name, value in again.items():
        assert metrics[name] == pytest.approx(value, abs=1e-6), name


def test_predictions_are_the_smoothed_ones(smoothed_run: Run, tmp_path: Path) -> None:
    settings, model = settings_of(smoothed_run.folder), TrainedModel.load(smoothed_run.folder)
    output = tmp_path / "classes.npy"
    predict(settings, model, Prediction(run=str(smoothed_run.folder), nodes="test", output=str(output)))
    graph = settings.dataset.load()
    predicted, actual = np.load(output), graph.labels[graph.test]
    metrics = smoothed_run.metrics or {}
    if model.multilabel:
        score = 2 * (predicted & (actual > 0)).sum() / (predicted.sum() + (actual > 0).sum())
        assert score == pytest.approx(metrics["test/micro_f1"], abs=1e-6)
    else:
        assert (predicted == actual).mean() == pytest.approx(metrics["test/accuracy"], abs=1e-6)


def test_a_baseline_is_smoothed_as_well(configured: Configured) -> None:
    small = ("model.units=8", "training.max_epochs=2")
    metrics = run(configured("model=gcn_full", "tuned=null", *GRAPH, *small, SMOOTH, *CANDIDATES))
    assert metrics["val/accuracy"] >= metrics[f"{RAW}val/accuracy"]


def test_where_it_cannot_be_applied_it_is_refused_before_training(configured: Configured) -> None:
    for overrides, message in (
        (["trainer.devices=2"], "one process; train with smoothing=none, then: .*eval"),
        (["engine=spark"], "engine=spark.*use engine=local"),
        (["smoothing.scale=big"], "smoothing.scale=big: must be auto"),
    ):
        with pytest.raises(SignError, match=message):
            configured(SMOOTH, *overrides)
