"""Callbacks follow their rules when a run is resumed."""

import csv
import logging
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from pytorch_lightning import Trainer

from sign.training import callbacks
from sign.training.callbacks import (
    BestCheckpoint,
    EpochLog,
    EpochProgress,
    LastCheckpoint,
    ResumableEarlyStopping,
    Stopwatch,
    keep_sigterm_handler,
)


def trainer(epoch: int, **changes: Any) -> Any:
    fields = {
        "current_epoch": epoch,
        "global_step": 30 * (epoch + 1),
        "is_global_zero": True,
        "num_training_batches": 1,
        "callback_metrics": {"val/loss": torch.tensor(1.0 / (epoch + 1))},
        "loggers": [],
        "should_stop": False,
        "max_epochs": 10,
        "strategy": SimpleNamespace(broadcast=lambda value: value),
    }
    return SimpleNamespace(**(fields | changes))


def log_epochs(file: Path, epochs: range) -> EpochLog:
    stopwatch = Stopwatch()
    log = EpochLog(file, stopwatch)
    log.on_train_start(trainer(epochs.start), None)  # type: ignore[arg-type]
    for epoch in epochs:
        stopwatch.epochs.append(2.0)
        log.on_train_epoch_end(trainer(epoch), None)  # type: ignore[arg-type]
    return log


def test_a_resumed_run_keeps_the_rows_up_to_its_checkpoint_and_its_seconds(tmp_path: Path) -> None:
    file = tmp_path / "metrics.csv"
    log_epochs(file, range(5))
    log = log_epochs(file, range(3, 6))  # the checkpoint was written after epoch 2
    with file.open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["epoch"] for row in rows] == ["0", "1", "2", "3", "4", "5"]
    assert [float(row["seconds/training"]) for row in rows] == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    assert log.seconds == 12.0


def test_a_run_that_starts_again_from_scratch_drops_all_rows(tmp_path: Path) -> None:
    log_epochs(tmp_path / "metrics.csv", range(3))
    log_epochs(tmp_path / "metrics.csv", range(1))
    assert len((tmp_path / "metrics.csv").read_text().splitlines()) == 2


@pytest.mark.parametrize(("waited", "patience", "stops"), [(3, 3, True), (3, 5, False), (2, 3, False)])
def test_a_run_that_had_stopped_early_stops_again_unless_its_patience_grew(
    waited: int, patience: int, stops: bool
) -> None:
    before = ResumableEarlyStopping("val/loss", patience=3)
    before.wait_count = waited
    resumed = ResumableEarlyStopping("val/loss", patience=patience)
    resumed.load_state_dict(before.state_dict())
    state = trainer(4)
    resumed.on_train_start(state, None)  # type: ignore[arg-type]
    assert (resumed.wait_count, resumed.patience) == (waited, patience)
    assert state.should_stop is stops


def test_the_best_checkpoint_is_known_in_a_folder_that_was_moved(tmp_path: Path) -> None:
    before = BestCheckpoint(tmp_path / "before", filename="best", monitor="val/loss")
    path = str(tmp_path / "before" / "best.ckpt")
    before.best_model_path = before.kth_best_model_path = path
    before.best_model_score, before.best_k_models = torch.tensor(0.5), {path: torch.tensor(0.5)}
    moved = BestCheckpoint(tmp_path / "moved", filename="best", monitor="val/loss")
    moved.load_state_dict(before.state_dict())
    expected = str(tmp_path / "moved" / "best.ckpt")
    assert moved.best_model_path == moved.kth_best_model_path == expected
    assert moved.best_k_models == {expected: torch.tensor(0.5)}
    assert moved.best_model_score == 0.5


def test_the_last_checkpoint_is_saved_first_then_at_intervals_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, saved = [1000.0], []
    monkeypatch.setattr(callbacks.time, "monotonic", lambda: now[0])
    last = LastCheckpoint(tmp_path / "last.ckpt")
    for epoch in range(10):
        now[0] += 4.0
        last.on_train_epoch_end(trainer(epoch, save_checkpoint=lambda _: saved.append(epoch)), None)  # noqa: B023
    assert saved == [0, 3, 6, 9]
    last.on_train_epoch_end(trainer(5, should_stop=True, save_checkpoint=lambda _: saved.append("stopped")), None)
    assert saved[-1] == "stopped"


def test_lightning_does_not_replace_the_handler_of_sigterm() -> None:
    before = signal.getsignal(signal.SIGTERM)
    state = Trainer(logger=False, barebones=True)
    try:
        signal.signal(signal.SIGTERM, handler := lambda *_: None)
        keep = keep_sigterm_handler()
        state._signal_connector.register_signal_handlers()
        assert signal.getsignal(signal.SIGTERM) is not handler
        keep.on_train_start(state, None)
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_without_a_terminal_epochs_are_log_lines_of_rank_0(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sign")
    now = [1000.0]
    monkeypatch.setattr(callbacks.time, "monotonic", lambda: now[0])
    metrics = {"val/accuracy": torch.tensor(0.75), "val/loss": torch.tensor(0.5), "train/loss": torch.tensor(0.25)}
    for zero in (True, False):
        shown = EpochProgress(10)
        shown.on_train_start(trainer(4), None)  # type: ignore[arg-type]  # resumed
        for epoch in range(4, 8):
            now[0] += 6.0
            state = trainer(epoch, callback_metrics=metrics, is_global_zero=zero)
            shown.on_train_epoch_end(state, None)  # type: ignore[arg-type]
        shown.on_train_end()
    values = "train/loss 0.2500, val/loss 0.5000, val/accuracy 0.7500, 6 s per epoch"
    assert caplog.messages == [
        f"epoch 6 of 10: {values}, at most 0:00:24 left",
        f"epoch 8 of 10: {values}, at most 0:00:12 left",
    ]
