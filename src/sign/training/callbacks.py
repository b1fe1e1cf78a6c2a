"""Lightning callbacks: timing, metrics.csv, progress, early stopping, checkpoints."""

import csv
import io
import logging
import signal
import threading
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint, EarlyStopping, LambdaCallback, ModelCheckpoint

from sign.graph.graph import SPLITS
from sign.runs import SCORES, Run
from sign.system.atomic_files import write_errors, write_text
from sign.system.console import ProgressLines, progress

REFRESH = 0.1  # seconds between two updates of the progress bar
LINE = ("train/loss", "val/loss", *(f"val/{name}" for name in SCORES))  # metrics of a progress line
LIGHTNING_LOGGERS = ("pytorch_lightning", "lightning.pytorch", "lightning.fabric", "lightning_fabric")
SAVE_EVERY = 10.0  # seconds of training that an interrupted run may have to repeat


log = logging.getLogger(__name__)


def silence_lightning() -> None:
    """Leave out Lightning's own messages."""
    for name in LIGHTNING_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning|lightning_fabric")


def keep_sigterm_handler() -> pl.Callback:
    """Restore the present handler of SIGTERM after Lightning's, which starts a collective and may hang."""
    handler = signal.getsignal(signal.SIGTERM)

    def restore(*_: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)

    return LambdaCallback(on_train_start=restore, on_test_start=restore)


class Stopwatch(pl.Callback):
    """Seconds of each training epoch (forward and backward, without evaluation) and of inference.

    ``inference`` is that of the test split; ``inference_all`` is that of all splits, loading their rows included.
    """

    def __init__(self) -> None:
        self.epochs: list[float] = []
        self.inference = self.inference_all = 0.0
        self._started = self._all_started = 0.0
        self._test = SPLITS.index("test")

    def on_train_epoch_start(self, *_: Any) -> None:
        """Start an epoch."""
        self._started = time.perf_counter()
        self.epochs.append(0.0)

    def on_validation_start(self, *_: Any) -> None:
        """End the epoch: evaluation begins."""
        self.epochs[-1] = time.perf_counter() - self._started

    def on_test_epoch_start(self, *_: Any) -> None:
        """Start before the first row of the first split is loaded."""
        self._all_started = time.perf_counter()

    def on_test_batch_start(self, trainer: Any, task: Any, batch: Any, index: int, dataloader_idx: int = 0) -> None:
        """Start at the first batch of the test split."""
        if dataloader_idx == self._test and index == 0:
            self._started = time.perf_counter()

    def on_test_batch_end(
        self, trainer: Any, task: Any, outputs: Any, batch: Any, index: int, dataloader_idx: int = 0
    ) -> None:
        """End at the last batch of the test split, which is the last split."""
        if dataloader_idx == self._test:
            now = time.perf_counter()
            self.inference = now - self._started + task.inference_overhead
            self.inference_all = now - self._all_started + task.inference_overhead_all


class EpochLog(pl.Callback):
    """Write one row of metrics per epoch to ``metrics.csv`` and every logger."""

    def __init__(self, file: Path, stopwatch: Stopwatch) -> None:
        self.file, self.stopwatch = file, stopwatch
        self.seconds = 0.0  # of training since the first epoch, interruptions excluded

    def on_train_start(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Keep the rows of a resumed run up to its checkpoint."""
        if trainer.is_global_zero and self.file.exists():
            rows = [row for row in Run(self.file.parent).epochs() if row["epoch"] < trainer.current_epoch]
            if not rows:
                self.file.unlink()
                return
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "epoch": int(row["epoch"])} for row in rows)
            with write_errors(self.file, "paths.output_dir"):
                write_text(self.file, text.getvalue())
            self.seconds = rows[-1]["seconds/training"]

    def on_train_epoch_end(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Write the row of this epoch."""
        if not trainer.is_global_zero:
            return
        numbers = {name: float(value) for name, value in trainer.callback_metrics.items()}
        self.seconds += self.stopwatch.epochs[-1]
        numbers |= {"seconds/epoch": self.stopwatch.epochs[-1], "seconds/training": self.seconds}
        numbers = {"epoch": trainer.current_epoch, **numbers}
        self._append(numbers)
        for logger in trainer.loggers:
            logger.log_metrics(numbers, step=trainer.global_step)

    def _append(self, row: dict[str, Any]) -> None:
        new = not self.file.exists()
        with write_errors(self.file, "paths.output_dir"), self.file.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)


class EpochProgress(pl.Callback):
    """One progress bar for the whole training; without a terminal, log lines of rank 0."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar = progress()
        self.lines = ProgressLines(epochs)
        self._updated = 0.0

    def on_train_start(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Show the bar; early stopping usually ends it before its total."""
        steps = int(trainer.num_training_batches)
        self.task_id = self.bar.add_task("training", total=self.epochs * steps, completed=trainer.current_epoch * steps)
        self.bar.start()
        self.lines = ProgressLines(self.epochs, skipped=trainer.current_epoch)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Update the bar at most every ``REFRESH`` seconds."""
        now = time.monotonic()
        if now - self._updated > REFRESH:
            self._updated = now
            self.bar.update(self.task_id, completed=trainer.global_step)

    def on_train_epoch_end(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Show the epoch and its metrics."""
        loss = float(trainer.callback_metrics.get("val/loss", float("nan")))
        text = f"epoch {trainer.current_epoch + 1}, val loss {loss:.4f}"
        self.bar.update(self.task_id, completed=trainer.global_step, description=text)
        if trainer.is_global_zero and self.lines.due():
            log.info("%s", self._line(trainer.current_epoch + 1, trainer.callback_metrics))

    def _line(self, epoch: int, metrics: Mapping[str, Any]) -> str:
        """The epoch, its metrics, the pace, and the time until the last epoch, if training does not stop early."""
        values = [f"{name} {float(metrics[name]):.4f}" for name in LINE if name in metrics]
        seconds = (time.monotonic() - self.lines.started) / max(epoch - self.lines.skipped, 1)
        pace = [f"{seconds:.3g} s per epoch", f"at most {self.lines.left(epoch)} left"]
        return f"epoch {epoch} of {self.epochs}: {', '.join([*values, *pace])}"

    def on_train_end(self, *_: Any) -> None:
        """Remove the bar."""
        self.bar.stop()

    def on_exception(self, *_: Any) -> None:
        """Remove the bar."""
        self.bar.stop()


class ResumableEarlyStopping(EarlyStopping):
    """EarlyStopping that a resumed run continues; a run that had already stopped trains no further epochs."""

    def on_train_start(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Stop at once if the run had stopped before it was resumed."""
        trainer.should_stop = trainer.should_stop or self.wait_count >= self.patience

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the count of epochs without improvement, but not the patience, which is a setting."""
        super().load_state_dict({**state, "patience": self.patience})


class BestCheckpoint(ModelCheckpoint):
    """The best epoch's checkpoint, restored on resume even if the run folder was moved."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the best score with the paths of this folder; Lightning drops it if they differ."""
        if state["best_k_models"]:
            here = str(Path(str(self.dirpath)) / Path(state["best_model_path"]).name)
            (score,) = state["best_k_models"].values()
            paths = {"dirpath": self.dirpath, "best_model_path": here, "kth_best_model_path": here}
            state = {**state, **paths, "best_k_models": {here: score}}
        super().load_state_dict(state)


class LastCheckpoint(Checkpoint):
    """The checkpoint that resumes an interrupted run: written after the first epoch, every few seconds, at the end.

    An epoch depends only on its number and the state before it, so any epoch will do.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._saved = 0.0

    def on_train_epoch_end(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Write the checkpoint if it is due."""
        ends = trainer.should_stop or trainer.current_epoch + 1 == trainer.max_epochs
        due = trainer.strategy.broadcast(ends or time.monotonic() - self._saved > SAVE_EVERY)
        if due:
            trainer.save_checkpoint(self.file)
            self._saved = time.monotonic()
