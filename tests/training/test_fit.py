"""The time per epoch leaves out the first, and the monitored metric decides what the best epoch is."""

from pathlib import Path

import pytest
from pytorch_lightning.callbacks import EarlyStopping

from sign.training.callbacks import LastCheckpoint, Stopwatch
from sign.training.fit import make_callbacks, seconds_per_epoch
from sign.training.settings import Training


def write_epochs(folder: Path, *seconds: float) -> Path:
    (folder / "metrics.csv").write_text("\n".join(["seconds/epoch", *map(str, seconds), ""]))
    return folder


def test_seconds_per_epoch_are_a_mean_without_the_first(tmp_path: Path) -> None:
    assert seconds_per_epoch(write_epochs(tmp_path, 50.0, 1.0, 2.0, 6.0)) == 3.0


def test_the_first_epoch_counts_if_it_is_the_only_one(tmp_path: Path) -> None:
    assert seconds_per_epoch(write_epochs(tmp_path, 50.0)) == 50.0


def test_a_run_without_epochs_takes_no_seconds_per_epoch(tmp_path: Path) -> None:
    assert seconds_per_epoch(tmp_path) == 0.0
    assert seconds_per_epoch(write_epochs(tmp_path)) == 0.0


@pytest.mark.parametrize(("monitor", "mode"), [("val/loss", "min"), ("val/accuracy", "max"), ("val/roc_auc", "max")])
def test_the_loss_is_minimised_and_other_metrics_are_maximised(tmp_path: Path, monitor: str, mode: str) -> None:
    training = Training(0.01, 0.0, 8, max_epochs=5, patience=3, monitor=monitor)  # type: ignore[arg-type]
    best, callbacks = make_callbacks(training, tmp_path, Stopwatch())
    (stopping,) = [callback for callback in callbacks if isinstance(callback, EarlyStopping)]
    assert (best.monitor, best.mode) == (stopping.monitor, stopping.mode) == (monitor, mode)
    assert stopping.patience == 3


def test_the_best_checkpoint_is_saved_before_the_one_to_resume(tmp_path: Path) -> None:
    training = Training(0.01, 0.0, 8, max_epochs=5, patience=3, monitor="val/loss")
    stopwatch = Stopwatch()
    best, callbacks = make_callbacks(training, tmp_path, stopwatch)
    assert stopwatch in callbacks
    assert callbacks[-2] is best
    assert isinstance(callbacks[-1], LastCheckpoint)
    assert Path(str(best.dirpath)) == tmp_path / "checkpoints"
