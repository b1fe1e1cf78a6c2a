"""What happens beside training: one row of metrics an epoch, a stopwatch, a progress bar, the last checkpoint."""

import csv
import io
import time
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint, EarlyStopping, ModelCheckpoint

from sign.graph.graph import SPLITS
from sign.runs import Run
from sign.system.atomic_files import write_text
from sign.system.console import progress

REFRESH = 0.1  # seconds between two moves of a progress bar
SAVE = 10.0  # seconds of training that an interrupted run may have to repeat


class Stopwatch(pl.Callback):
    """Seconds of each training epoch (forward and backward, without evaluation) and of inference."""

    def __init__(self) -> None:
        self.epochs: list[float] = []
        self.inference = 0.0
        self._started = 0.0
        self._test = SPLITS.index("test")

    def on_train_epoch_start(self, *_: Any) -> None:
        """Start an epoch."""
        self._started = time.perf_counter()
        self.epochs.append(0.0)

    def on_validation_start(self, *_: Any) -> None:
        """Evaluation begins: the epoch is trained."""
        self.epochs[-1] = time.perf_counter() - self._started

    def on_test_batch_start(
        self, trainer: Any, task: Any, batch: Any, index: int, dataloader_idx: int = 0
    ) -> None:
        """Start with the first batch of the test split."""
        if dataloader_idx == self._test and index == 0:
            self._started = time.perf_counter()

    def on_test_batch_end(
        self, trainer: Any, task: Any, outputs: Any, batch: Any, index: int, dataloader_idx: int = 0
    ) -> None:
        """The last batch of the test split decides."""
        if dataloader_idx == self._test:
            self.inference = time.perf_counter() - self._started


class EpochLog(pl.Callback):
    """One row of metrics an epoch, into ``metrics.csv`` and every logger."""

    def __init__(self, file: Path, stopwatch: Stopwatch) -> None:
        self.file, self.stopwatch = file, stopwatch
        self.seconds = 0.0  # of training since its first epoch, before an interruption or after

    def on_train_start(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Keep the rows of a run that is resumed, up to its checkpoint."""
        if trainer.is_global_zero and self.file.exists():
            every = Run(self.file.parent).epochs()
            rows = [row for row in every if row["epoch"] < trainer.current_epoch]
            if not rows:
                self.file.unlink()
                return
            text = io.StringIO(newline="")
            writer = csv.DictWriter(text, list(rows[0]))
            writer.writeheader()
            writer.writerows({**row, "epoch": int(row["epoch"])} for row in rows)
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
            logger.log_metrics(numbers, step=trainer.current_epoch)

    def _append(self, row: dict[str, Any]) -> None:
        new = not self.file.exists()
        with self.file.open("a", newline="") as stream:
            writer = csv.DictWriter(stream, list(row))
            if new:
                writer.writeheader()
            writer.writerow(row)


class EpochProgress(pl.Callback):
    """One bar for the whole training."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar = progress()
        self._moved = 0.0

    def on_train_start(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Show the bar; early stopping will usually end it before its total."""
        steps = int(trainer.num_training_batches)
        self.task_id = self.bar.add_task(
            "training", total=self.epochs * steps, completed=trainer.current_epoch * steps
        )
        self.bar.start()

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Move, as often as an eye can follow."""
        now = time.monotonic()
        if now - self._moved > REFRESH:
            self._moved = now
            self.bar.update(self.task_id, completed=trainer.global_step)

    def on_train_epoch_end(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Say where we are."""
        loss = float(trainer.callback_metrics.get("val/loss", float("nan")))
        text = f"epoch {trainer.current_epoch + 1}, val loss {loss:.4f}"
        self.bar.update(self.task_id, completed=trainer.global_step, description=text)

    def on_train_end(self, *_: Any) -> None:
        """Remove the bar; the summary follows."""
        self.bar.stop()

    def on_exception(self, *_: Any) -> None:
        """Leave the terminal as it was."""
        self.bar.stop()


class Patience(EarlyStopping):
    """Early stopping that a resumed run takes up: one that had already stopped trains no epoch more."""

    def on_train_start(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Stop where the run that is resumed had stopped."""
        trainer.should_stop = trainer.should_stop or self.wait_count >= self.patience

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up the waiting, but not the patience, which is a setting."""
        super().load_state_dict({**state, "patience": self.patience})


class BestCheckpoint(ModelCheckpoint):
    """The best epoch's checkpoint; a resumed run knows it again wherever its folder now lies."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up the score with the paths of this folder; Lightning drops it where they are others."""
        if state["best_k_models"]:
            here = str(Path(str(self.dirpath)) / Path(state["best_model_path"]).name)
            (score,) = state["best_k_models"].values()
            paths = {"dirpath": self.dirpath, "best_model_path": here, "kth_best_model_path": here}
            state = {**state, **paths, "best_k_models": {here: score}}
        super().load_state_dict(state)


class LastCheckpoint(Checkpoint):
    """Where an interrupted run goes on: written after the first epoch, every few seconds, and at the end.

    An epoch depends on its number and on the state before it alone, so it does not matter after which one.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._saved = 0.0

    def on_train_epoch_end(self, trainer: pl.Trainer, task: pl.LightningModule) -> None:
        """Write it if it is time."""
        ends = trainer.should_stop or trainer.current_epoch + 1 == trainer.max_epochs
        due = trainer.strategy.broadcast(ends or time.monotonic() - self._saved > SAVE)
        if due:
            trainer.save_checkpoint(self.file)
            self._saved = time.monotonic()
