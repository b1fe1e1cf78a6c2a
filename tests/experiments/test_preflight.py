"""What cannot be trained or resumed is refused before a run folder exists, with a message that says what to change."""

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from sign.config.settings import Settings
from sign.errors import FieldError, SignError
from sign.experiments.preflight import CheckpointError, check_checkpoint, check_data, check_settings
from sign.graph.classification import NodeClassification
from sign.graph.feature_scaling import FeatureScaling
from sign.models.sign import SIGN
from sign.training.settings import Training, ValidationMetric
from sign.training.task import SIGNTask

Configured = Callable[..., Settings]
TWO_RANKS = ("trainer=cpu", "trainer.devices=2")
ARCHITECTURE = SIGN(1, 4, 1, 4, "relu", 0.0, 0.0, batch_norm=True)
TRAINING = Training(0.01, 0.0, 8, 1, 1, "val/loss")


UNSCALED = FeatureScaling("none")


def data(multilabel: bool = False, **sizes: int) -> NodeClassification:
    """Labels alone, four per split unless ``sizes`` says otherwise."""
    sizes = {"train": 4, "val": 4, "test": 4} | sizes
    labels = {split: np.zeros(size, np.int64) for split, size in sizes.items()}
    return NodeClassification(
        "toy", "", classes=2, multilabel=multilabel, labels=labels, scopes=[], feature_scaling=FeatureScaling("none")
    )


def task(**changes: Any) -> SIGNTask:
    fields = {"features": 3, "hops": {"X": 3, "p1": 3}, "classes": 2, "multilabel": False}
    return SIGNTask(**(fields | {"architecture": ARCHITECTURE.to_plain(), "training": asdict(TRAINING)} | changes))


def save(file: Path, saved: SIGNTask) -> Path:
    torch.save({"hyper_parameters": dict(saved.hparams), "state_dict": saved.state_dict()}, file)
    return file


def test_the_default_settings_and_data_pass(configured: Configured) -> None:
    check_settings(configured("trainer=cpu"))
    check_data(configured("trainer=cpu"), data())


def test_batch_norm_needs_two_rows_of_a_batch_on_each_rank(configured: Configured) -> None:
    advice = "batch norm needs two rows on each of 2 ranks; raise it, or use model.batch_norm=false"
    with pytest.raises(FieldError, match=re.escape(f"training.batch_size=3: {advice}")):
        check_settings(configured(*TWO_RANKS, "training.batch_size=3", "model.batch_norm=true"))
    for allowed in ("training.batch_size=4", "model.batch_norm=false"):
        with pytest.raises(SignError, match="launches the ranks"):  # the next check
            check_settings(configured(*TWO_RANKS, "training.batch_size=3", "model.batch_norm=true", allowed))


def test_several_ranks_need_the_command_that_launches_them(configured: Configured) -> None:
    with pytest.raises(SignError, match=r"start the run with python src/train.py, which launches the ranks"):
        check_settings(configured(*TWO_RANKS))


@pytest.mark.parametrize("split", ["val", "test"])
def test_an_empty_split_is_refused(configured: Configured, split: str) -> None:
    with pytest.raises(SignError, match=f"toy: the {split} split is empty; use a smaller training split"):
        check_data(configured("trainer=cpu"), data(**{split: 0}))


LABELLED = {  # validation labels, and the metrics that they have besides the loss and the macro-F1
    "two classes": ([0, 1, 1], 2, ["accuracy", "roc_auc", "average_precision"]),
    "one class occurs": ([0, 0, 0], 2, ["accuracy"]),
    "four classes": ([0, 3, 3], 4, ["accuracy", "roc_auc"]),
    "labels": ([[0, 1], [0, 0]], 2, ["micro_f1", "roc_auc", "average_precision"]),
    "labels that all nodes have": ([[1, 1], [1, 1]], 2, ["micro_f1", "average_precision"]),
    "no labels": ([[0, 0], [0, 0]], 2, ["micro_f1"]),
}


def test_a_metric_that_the_validation_labels_do_not_have_is_refused(configured: Configured) -> None:
    settings = configured("trainer=cpu")
    for (labels, classes, defined), metric in product(LABELLED.values(), get_args(ValidationMetric)):
        val = np.array(labels)
        toy = replace(data(multilabel=val.ndim == 2), classes=classes)
        toy = replace(toy, labels=toy.labels | {"val": val})
        training = {**settings.config["training"], "monitor": metric}
        monitored = replace(settings, config={**settings.config, "training": training})
        searched = replace(settings, search_metric=metric)
        for name, changed in (("training.monitor", monitored), ("search.metric", searched)):
            if metric in ("val/loss", "val/macro_f1", *(f"val/{own}" for own in defined)):
                check_data(changed, toy)
                continue
            message = f"{name}={metric}: .* is not defined for the validation labels of toy; choose one of val/loss"
            with pytest.raises(SignError, match=message):
                check_data(changed, toy)


@pytest.mark.parametrize(
    ("overrides", "rows", "message"),
    [
        (("trainer=cpu",), 1, "toy: 1 training node, but batch norm needs two on each of 1 rank; use"),
        (TWO_RANKS, 3, "toy: 3 training nodes, but batch norm needs two on each of 2 ranks; use"),
    ],
)
def test_batch_norm_needs_two_training_nodes_on_each_rank(
    configured: Configured, overrides: tuple[str, ...], rows: int, message: str
) -> None:
    with pytest.raises(SignError, match=f"{message} model.batch_norm=false"):
        check_data(configured(*overrides, "model.batch_norm=true"), data(train=rows))
    check_data(configured(*overrides, "model.batch_norm=false"), data(train=rows))
    check_data(configured(*overrides, "model.batch_norm=true"), data(train=rows + 1))


def test_a_checkpoint_of_the_same_network_passes_whatever_its_training(tmp_path: Path) -> None:
    other = asdict(replace(TRAINING, learning_rate=0.5))
    check_checkpoint(save(tmp_path / "last.ckpt", task(training=other, seed=7)), task())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hops", {"X": 5, "p1": 5}),
        ("hops", {"X": 3, "t1": 3}),
        ("classes", 3),
        ("multilabel", True),
        ("architecture", replace(ARCHITECTURE, dropout=0.5).to_plain()),
    ],
)
def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    file = save(tmp_path / "last.ckpt", task(**{name: value}))
    ours = task()
    message = f"ckpt_path={file}: a checkpoint of another model: its {name} are {value}, here {ours.hparams[name]}; use"
    with pytest.raises(CheckpointError, match=re.escape(message)):
        check_checkpoint(file, ours)


@pytest.mark.parametrize("content", ["missing", "bytes", "without hyperparameters", "code"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "last.ckpt"
    if content == "bytes":
        file.write_bytes(b"no checkpoint")
    elif content == "without hyperparameters":
        torch.save({"state_dict": {}}, file)
    elif content == "code":
        torch.save({"hyper_parameters": dict(task().hparams), "callback": print}, file)
    with pytest.raises(CheckpointError, match=re.escape(f"ckpt_path={file}: not a checkpoint of SIGN (")):
        check_checkpoint(file, task())
