"""What a Lightning run costs beside its matrix products: ``python benchmarks/training.py``.

A run as ``src/train.py`` does it, with callbacks, checkpoints, loggers and evaluation, takes turns with a plain
PyTorch loop over the same network and the same rows (shuffled indices, Adam, validation loss and accuracy every
epoch, as in PyG's ``examples/sign.py``). Seconds of a whole epoch, and how many times longer the run took.
``--parts`` shows what the parts of a run cost. For rows that memory does not hold, see ``out_of_core.py``.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from epochs import run_with_ticks
from torch.nn.functional import cross_entropy

from sign.config.configure import compose, configure
from sign.config.settings import Settings
from sign.experiments.run import prepare
from sign.system.console import console
from sign.tracking.base import NoTracker, Tracker
from sign.tracking.wandb import WandB
from sign.training import fit
from sign.training.datamodule import SIGNDataModule
from sign.training.task import SIGNTask


def settings_of(folder: Path, asked: argparse.Namespace, batch: int, epochs: int) -> Settings:
    overrides = [
        "dataset=communities",
        f"dataset.nodes={2 * asked.rows}",
        f"dataset.edges={10 * asked.rows}",
        "dataset.features=100",
        f"model.inception_units={asked.units}",
        f"model.classification_units={2 * asked.units}",
        f"training.batch_size={batch}",
        f"training.max_epochs={epochs}",
        "training.patience=1000",
        *(f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")),
        "logger=csv",
        *asked.overrides,
    ]
    return configure(compose(*overrides), overrides)


def ours(settings: Settings, tracker: Tracker) -> float:
    """Seconds of an epoch of a run."""
    return statistics.fmean(run_with_ticks(settings, tracker)[1])


def plain(settings: Settings, datamodule: SIGNDataModule, epochs: int, batch: int, evaluate: bool = True) -> float:
    """Seconds of an epoch of the loop that one would write by hand."""
    torch.manual_seed(0)
    network = SIGNTask.for_data(datamodule, settings.architecture, settings.training, settings.seed).network
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.training.learning_rate)
    (rows, labels), (val_rows, val_labels) = (
        (datamodule.loaders[split].rows[slice(None)], datamodule.loaders[split].labels) for split in ("train", "val")
    )
    ticks = []
    for _ in range(epochs):
        network.train()
        for index in torch.randperm(len(rows)).split(batch):
            optimizer.zero_grad(set_to_none=True)
            loss = cross_entropy(network(rows[index]), labels[index])
            loss.backward()
            optimizer.step()
        network.eval()
        total = correct = 0.0
        with torch.no_grad():
            size = max(batch, 1 << 12)
            for x, y in zip(val_rows.split(size), val_labels.split(size), strict=True) if evaluate else ():
                logits = network(x)
                total += float(cross_entropy(logits, y, reduction="sum"))
                correct += int((logits.argmax(1) == y).sum())
        ticks.append(time.perf_counter())
    return (ticks[-1] - ticks[0]) / (len(ticks) - 1)


@contextmanager
def without(*names: str) -> Iterator[None]:
    """A run that lacks some of its callbacks."""
    make = fit.make_callbacks

    def fewer(*arguments: Any) -> Any:
        best, callbacks = make(*arguments)
        return best, [callback for callback in callbacks if type(callback).__name__ not in names]

    with mock.patch.object(fit, "make_callbacks", fewer):
        yield


def compare(folder: Path, asked: argparse.Namespace) -> None:
    print(f"{asked.rows:,} rows, units {asked.units}, {torch.get_num_threads()} threads; seconds per epoch")
    print(f"{'batch':>6} {'plain loop':>11} {'run':>8} {'ratio':>6}   ratio of each round")
    for batch in asked.batches:
        settings = settings_of(folder, asked, batch, asked.epochs)
        datamodule = prepare(settings)
        loop_seconds, run_seconds = [], []
        for _ in range(asked.rounds):
            loop_seconds.append(plain(settings, datamodule, asked.epochs, batch))
            run_seconds.append(ours(settings, WandB(mode="offline") if asked.wandb else NoTracker()))
        ratios = sorted(a / b for a, b in zip(run_seconds, loop_seconds, strict=True))
        print(
            f"{batch:>6} {min(loop_seconds):>11.4f} {min(run_seconds):>8.4f} {statistics.median(ratios):>6.2f}   "
            f"{' '.join(f'{ratio:.2f}' for ratio in ratios)}",
            flush=True,
        )


def parts(folder: Path, asked: argparse.Namespace) -> None:
    """Milliseconds per epoch saved when a part is left out, on a tiny network so that they can be seen."""
    epochs = 10 * asked.epochs
    asked.units = 8
    asked.rows = min(asked.rows, 8192)
    settings = settings_of(folder, asked, 1024, epochs)
    datamodule = prepare(settings)
    variants = {
        "a whole run": ((), NoTracker()),
        "with W&B, offline": ((), WandB(mode="offline")),
        "without the progress bar": (("EpochProgress",), NoTracker()),
        "without last.ckpt": (("LastCheckpoint",), NoTracker()),
    }
    loops = {"plain loop": True, "plain loop, no evaluation": False}
    seconds: dict[str, list[float]] = {name: [] for name in (*loops, *variants)}
    for _ in range(asked.rounds):
        for name, evaluate in loops.items():
            seconds[name].append(plain(settings, datamodule, epochs, 1024, evaluate))
        for name, (left_out, tracker) in variants.items():
            with without(*left_out):
                seconds[name].append(ours(settings, tracker))
    for name, values in seconds.items():
        print(f"{name:>26} {1000 * min(values):8.2f} ms per epoch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, nargs="+", default=[128, 1024, 16384])
    parser.add_argument("--rows", type=int, default=32768, help="training rows")
    parser.add_argument("--units", type=int, default=256, help="of a branch; the classifier has twice as many")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--wandb", action="store_true", help="log to W&B, offline")
    parser.add_argument("--parts", action="store_true", help="what the parts of a run cost")
    parser.add_argument("overrides", nargs="*", help="settings, such as trainer.compile=true")
    asked = parser.parse_args()
    console.quiet = True
    with tempfile.TemporaryDirectory() as folder:
        (parts if asked.parts else compare)(Path(folder), asked)


if __name__ == "__main__":
    main()
