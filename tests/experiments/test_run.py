"""Whole runs: training works, is repeatable, resumes, and leaves a complete run folder."""

import csv
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from common.overrides import CUSTOM, SMALL
from common.paths import REPOSITORY
from omegaconf import OmegaConf
from torchmetrics.functional.classification import multiclass_auroc, multiclass_f1_score, multilabel_f1_score

from sign.config.settings import Settings
from sign.errors import SignError
from sign.experiments import run as run_module
from sign.experiments.run import prepare, run
from sign.runs import Run
from sign.training.task import SIGNTask

Configured = Callable[..., Settings]


def folder_of(settings: Settings) -> Path:
    (folder,) = (settings.output_dir / settings.dataset.name / settings.slug).iterdir()
    return folder


def test_single_label(configured: Configured) -> None:
    settings = configured(*SMALL)
    numbers = run(settings)
    assert numbers["test/accuracy"] > 0.8
    assert "test/micro_f1" not in numbers  # of single labels it is the accuracy
    folder = folder_of(settings)
    assert json.loads((folder / "metrics.json").read_text()) == numbers
    for name in ("val/loss", "epochs", "parameters", "seconds/precompute", "seconds/epoch", "seconds/inference"):
        assert numbers[name] > 0
    assert numbers["seconds/inference_all"] > numbers["seconds/inference"]
    with (folder / "metrics.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["epoch"]) for row in rows] == list(range(int(numbers["epochs"])))
    assert min(float(row["val/loss"]) for row in rows) == pytest.approx(numbers["val/loss"], abs=1e-6)
    assert OmegaConf.load(folder / "config.yaml").model.p == 2
    task = SIGNTask.load_from_checkpoint(folder / "checkpoints" / "best.ckpt", weights_only=True)
    assert list(task.hparams["hops"]) == ["X", "p1", "p2"]


def test_the_defaults_of_a_new_graph_are_logged_recorded_and_resumed(
    configured: Configured, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sign")
    settings = configured(*CUSTOM, "model.dropout=0.25", "training.max_epochs=2")
    numbers = run(settings)
    (line,) = [text for text in caplog.messages if text.startswith("defaults for 24 training rows")]
    assert "model.batch_norm=false" in line
    assert "model.dropout" not in line
    folder = folder_of(settings)
    recorded = OmegaConf.load(folder / "config.yaml")
    assert recorded.model.batch_norm is False
    assert recorded.model.dropout == 0.25
    assert "auto" not in [*recorded.model.values(), *recorded.training.values(), *recorded.scaling.values()]
    caplog.clear()
    resumed = run(configured(f"ckpt_path={folder / 'checkpoints' / 'last.ckpt'}"))
    assert resumed["test/loss"] == numbers["test/loss"]
    assert not [text for text in caplog.messages if text.startswith("defaults for")]
    with pytest.raises(SignError, match=r"model.dropout=0.3: would change the numbers"):
        configured(f"ckpt_path={folder / 'checkpoints' / 'last.ckpt'}", "model.dropout=0.3")


def test_multilabel(configured: Configured) -> None:
    numbers = run(configured(*SMALL, "dataset.multilabel=true"))
    assert numbers["test/micro_f1"] > 0.8
    assert "test/accuracy" not in numbers


def test_thresholds_chosen_on_validation_data_decide_the_final_metrics(configured: Configured) -> None:
    monitored = ("training.monitor=val/average_precision", "training.threshold=validation")
    settings = configured(*SMALL, "dataset.multilabel=true", "training.max_epochs=3", *monitored)
    numbers, data = run(settings), prepare(settings)
    epochs = Run(folder_of(settings)).epochs()
    assert numbers["val/average_precision"] == pytest.approx(max(row["val/average_precision"] for row in epochs))
    assert {file.name for file in folder_of(settings).glob("*.csv")} == {"metrics.csv", "per_class.csv"}
    saved = json.loads((folder_of(settings) / "thresholds.json").read_text())
    task = SIGNTask.load_from_checkpoint(folder_of(settings) / "checkpoints" / "best.ckpt", weights_only=True).eval()
    scores = {}
    for threshold in (torch.tensor(0.5), torch.tensor(saved["thresholds"])):
        for split, loader in data.loaders.items():
            with torch.no_grad():
                predicted = (task(loader.rows[:]).sigmoid() > threshold).int()
            labels = loader.labels.int()
            scores[split, threshold.ndim] = float(
                multilabel_f1_score(predicted, labels, labels.shape[1], average="micro")
            )
    assert numbers["test/micro_f1"] == pytest.approx(scores["test", 1])
    assert numbers["val/micro_f1"] == pytest.approx(scores["val", 1])
    assert scores["val", 1] > scores["val", 0]


def test_the_final_metrics_are_those_of_torchmetrics_on_the_whole_split(configured: Configured) -> None:
    settings = configured(*SMALL, "training.max_epochs=3", "training.monitor=val/roc_auc")
    numbers, data = run(settings), prepare(settings)
    task = SIGNTask.load_from_checkpoint(folder_of(settings) / "checkpoints" / "best.ckpt", weights_only=True).eval()
    for split, loader in data.loaders.items():
        with torch.no_grad():
            logits = task(loader.rows[:])
        expected = {"macro_f1": multiclass_f1_score(logits, loader.labels, 4, average="macro")}
        expected |= {"roc_auc": multiclass_auroc(logits.softmax(1), loader.labels, 4)}
        for name, value in expected.items():
            assert numbers[f"{split}/{name}"] == pytest.approx(float(value), abs=1e-6)
    assert "test/average_precision" not in numbers  # of two classes only
    epochs = Run(folder_of(settings)).epochs()
    assert numbers["val/roc_auc"] == pytest.approx(max(row["val/roc_auc"] for row in epochs))
    with (folder_of(settings) / "confusion.csv").open() as stream:
        counts = [[int(cell) for cell in row[1:]] for row in list(csv.reader(stream))[1:]]
    assert sum(map(sum, counts)) == len(data.loaders["test"].labels)
    assert sum(row[k] for k, row in enumerate(counts)) / sum(map(sum, counts)) == numbers["test/accuracy"]


def test_the_run_folder_is_logged_before_training(
    configured: Configured, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "sign")
    monkeypatch.setattr(run_module, "fit_and_test", lambda *_: pytest.fail("stopped before training"))
    settings = configured(*SMALL)
    with pytest.raises(pytest.fail.Exception, match="stopped before training"):
        run(settings)
    assert f"run folder: {folder_of(settings)}" in caplog.messages


def test_inductive_with_standardised_features(configured: Configured) -> None:
    numbers = run(configured(*SMALL, "dataset.inductive=true", "scaling.features=standardize"))
    assert numbers["test/accuracy"] > 0.7


@pytest.mark.slow
def test_the_same_seed_gives_the_same_numbers_and_another_does_not(configured: Configured) -> None:
    first, again, other = (run(configured(*SMALL, f"seed={seed}")) for seed in (3, 3, 4))
    learned = [name for name in first if name.split("/")[0] in ("train", "val", "test")]
    assert [first[name] for name in learned] == [again[name] for name in learned]
    assert first["val/loss"] != other["val/loss"]


@pytest.mark.slow
def test_training_stops_early_and_the_best_checkpoint_is_the_one_tested(configured: Configured) -> None:
    settings = configured(*SMALL, "training.max_epochs=200", "training.patience=2")
    numbers = run(settings)
    assert numbers["epochs"] < 200
    with (folder_of(settings) / "metrics.csv").open() as stream:
        losses = [float(row["val/loss"]) for row in csv.DictReader(stream)]
    best = losses.index(min(losses))
    assert best == len(losses) - 3
    assert numbers["val/loss"] == pytest.approx(losses[best], abs=1e-6)
    saved = torch.load(folder_of(settings) / "checkpoints" / "best.ckpt", weights_only=True)
    assert saved["epoch"] == best


@pytest.mark.slow
def test_a_resumed_run_keeps_its_settings_and_ends_like_an_uninterrupted_one(configured: Configured) -> None:
    whole = run(configured(*SMALL, "seed=3", "paths.output_dir=" + str(configured().output_dir / "whole")))
    half = configured(*SMALL, "seed=3", "training.max_epochs=5")
    run(half)
    folder = folder_of(half)
    rest = run(configured(f"ckpt_path={folder / 'checkpoints' / 'last.ckpt'}", "training.max_epochs=12"))
    learned = [name for name in whole if name.split("/")[0] in ("train", "val", "test")]
    assert {name: rest[name] for name in learned} == {name: whole[name] for name in learned}
    assert rest["epochs"] == whole["epochs"] == 12
    with (folder / "metrics.csv").open() as stream:
        assert [int(row["epoch"]) for row in csv.DictReader(stream)] == list(range(12))


def test_rows_on_disk_give_the_numbers_of_rows_in_memory_and_resume(configured: Configured) -> None:
    def learned(numbers: dict[str, float]) -> dict[str, float]:
        return {name: value for name, value in numbers.items() if name.split("/")[0] in ("train", "val", "test")}

    output = configured().output_dir
    chunks = (*SMALL, "scaling.hops=l2", "training.batch_size=300", "training.max_epochs=4", "training.shuffle=chunks")
    held = run(configured(*chunks, "training.rows=memory", f"paths.output_dir={output / 'held'}"))
    half = configured(*chunks, "training.shuffle=auto", "training.rows=disk", "training.max_epochs=2")
    run(half)
    recorded = Run(folder_of(half)).config["training"]
    assert (recorded["rows"], recorded["shuffle"]) == ("disk", "chunks")
    checkpoint = f"ckpt_path={folder_of(half) / 'checkpoints' / 'last.ckpt'}"
    with pytest.raises(SignError, match=r"training\.shuffle=rows: would change the numbers"):
        configured(checkpoint, "training.shuffle=rows")
    rest = run(configured(checkpoint, "training.max_epochs=4"))
    assert learned(rest) == pytest.approx(learned(held), abs=1e-6)  # the final sums are in the order of the file
    with (folder_of(half) / "metrics.csv").open() as stream:
        losses = [row["val/loss"] for row in csv.DictReader(stream)]
    (held_folder,) = (output / "held").rglob("metrics.csv")
    with held_folder.open() as stream:
        assert [row["val/loss"] for row in csv.DictReader(stream)] == losses  # bit by bit


@pytest.mark.slow
def test_shuffling_by_chunks_learns_what_shuffling_rows_learns(configured: Configured) -> None:
    """Means over seeds differ by less than seeds do."""
    scores = {}
    for shuffle in ("rows", "chunks"):
        settings = (*SMALL, "training.batch_size=100", f"training.shuffle={shuffle}", "training.max_epochs=6")
        scores[shuffle] = [run(configured(*settings, f"seed={seed}"))["test/accuracy"] for seed in range(5)]
    rows, chunks = np.array(scores["rows"]), np.array(scores["chunks"])
    assert abs(rows.mean() - chunks.mean()) < 2 * np.sqrt((rows.var(ddof=1) + chunks.var(ddof=1)) / 5) + 0.002


@pytest.mark.slow
def test_a_killed_run_on_rows_on_disk_resumes_exactly(configured: Configured, tmp_path: Path) -> None:
    overrides = (
        *SMALL,
        "training.rows=disk",
        "training.batch_size=100",
        "training.max_epochs=30",
        "training.patience=99",
    )
    settings = configured(*overrides)
    whole = run(configured(*overrides, f"paths.output_dir={tmp_path / 'whole'}"))
    folders = [f"paths.{kind}_dir={tmp_path / kind}" for kind in ("data", "store", "output")]
    command = [sys.executable, str(REPOSITORY / "src" / "train.py"), *overrides, *folders, "logger=csv"]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(settings.output_dir.rglob("last.ckpt")) and killed.poll() is None:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    folder = folder_of(settings)
    assert not (folder / "metrics.json").exists()
    rest = run(configured(f"ckpt_path={folder}"))
    learned = [name for name in whole if name.split("/")[0] in ("train", "val", "test")]
    assert {name: rest[name] for name in learned} == {name: whole[name] for name in learned}


def test_a_run_whose_folder_was_moved_knows_its_best_epoch(configured: Configured, tmp_path: Path) -> None:
    settings = configured(*SMALL, "training.learning_rate=0.3", "model.dropout=0")  # its best epoch is an early one
    numbers = run(settings)
    moved = folder_of(settings).rename(tmp_path / "moved")
    again = run(configured(f"ckpt_path={moved / 'checkpoints' / 'last.ckpt'}"))
    assert again["val/loss"] == numbers["val/loss"]
    assert again["seconds/epoch"] == numbers["seconds/epoch"]


@pytest.mark.slow
def test_a_run_that_was_killed_after_its_last_epoch_is_only_tested(configured: Configured) -> None:
    settings = configured(*SMALL, "training.max_epochs=200", "training.patience=2")
    whole = run(settings)
    folder = folder_of(settings)
    rest = run(configured(f"ckpt_path={folder / 'checkpoints' / 'last.ckpt'}"))
    learned = [name for name in whole if name.split("/")[0] in ("train", "val", "test")]
    assert {name: rest[name] for name in learned} == {name: whole[name] for name in learned}
    assert rest["epochs"] == whole["epochs"] < 200
    more = run(configured(f"ckpt_path={folder / 'checkpoints' / 'last.ckpt'}", "training.patience=5"))
    assert more["epochs"] > whole["epochs"]


@pytest.mark.parametrize("change", ["model.p=3", "seed=4", "dataset=cora", "training.learning_rate=1"])
def test_a_resumed_run_cannot_become_another(configured: Configured, change: str) -> None:
    first = configured(*SMALL, "training.max_epochs=1")
    run(first)
    folder = folder_of(first)
    before = (folder / "config.yaml").read_text()
    with pytest.raises(SignError, match=f"{change}: would change the numbers of the run that ckpt_path="):
        run(configured(f"ckpt_path={folder / 'checkpoints' / 'best.ckpt'}", change))
    assert (folder / "config.yaml").read_text() == before


def test_a_lone_checkpoint_of_another_model_is_refused(configured: Configured, tmp_path: Path) -> None:
    first = configured(*SMALL, "training.max_epochs=1")
    run(first)
    lone = (folder_of(first) / "checkpoints" / "best.ckpt").rename(tmp_path / "lone.ckpt")
    with pytest.raises(SignError, match="a checkpoint of another model: its hops are"):
        run(configured(*SMALL, "model.p=3", f"ckpt_path={lone}"))
    lone.write_bytes(b"not a checkpoint")
    with pytest.raises(SignError, match="not a checkpoint of SIGN"):
        run(configured(*SMALL, f"ckpt_path={lone}"))


@pytest.mark.parametrize(
    ("override", "message"),
    [("training.learning_rate=1e30", "training diverged"), ("dataset.val_fraction=0.489", "the test split is empty")],
)
def test_a_run_that_cannot_end_well_says_so(configured: Configured, override: str, message: str) -> None:
    extra = ["dataset.nodes=40", "dataset.edges=70"] if "fraction" in override else []
    with pytest.raises(SignError, match=message):
        run(configured(*SMALL, *extra, override))


def test_one_row_left_over_does_not_stop_batch_norm(configured: Configured) -> None:
    settings = configured(*SMALL, "training.batch_size=333", "training.max_epochs=1")  # 1000 = 3 x 333 + 1
    assert run(settings)["epochs"] == 1


def test_checkpoints_hold_plain_values_only(configured: Configured) -> None:
    settings = configured(*SMALL, "training.max_epochs=1")
    run(settings)
    saved = torch.load(folder_of(settings) / "checkpoints" / "last.ckpt", weights_only=True)
    assert saved["hyper_parameters"]["architecture"]["inception_units"] == 32


def test_half_precision_learns(configured: Configured) -> None:
    numbers = run(configured(*SMALL, "trainer=cpu", "trainer.precision=bf16-mixed", "training.max_epochs=4"))
    assert numbers["test/accuracy"] > 0.6


@pytest.mark.slow
def test_a_compiled_run_and_a_plain_one_exchange_checkpoints(
    configured: Configured, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_ = torch.nn.Module.compile  # for real, but for the minute that C++ takes
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module: compile_(module, backend="aot_eager"))
    first = configured(*SMALL, "model.p=1", "model.batch_norm=false", "training.max_epochs=1", "trainer=cpu")
    run(first)
    last = folder_of(first) / "checkpoints" / "last.ckpt"
    names = list(torch.load(last, weights_only=True)["state_dict"])
    for epochs, compiled in ((2, True), (3, False)):
        resumed = (f"ckpt_path={last}", f"training.max_epochs={epochs}", f"trainer.compile={compiled}")
        assert run(configured(*resumed, "trainer=cpu"))["epochs"] == epochs
        assert list(torch.load(last, weights_only=True)["state_dict"]) == names
