"""Seconds of each epoch of a run, for the benchmarks of training."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import Logger

from sign.config.settings import Settings
from sign.experiments.run import run
from sign.runs import Run
from sign.tracking.base import RunInfo, Tracker


class Ticker(Logger):
    """Notes when each epoch is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks: list[float] = []

    name = version = "ticker"

    def log_hyperparams(self, *_: Any, **__: Any) -> None:
        pass

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        if "val/loss" in metrics and "test/loss" not in metrics:
            self.ticks.append(time.perf_counter())


@dataclass(frozen=True)
class Ticking(Tracker):
    """Any tracker, with a ticker beside it."""

    inner: Tracker
    ticker: Ticker

    def start(self, info: RunInfo) -> list[Logger]:
        return [*self.inner.start(info), self.ticker]

    def finish(self, loggers: list[Logger], run: Run, manifests: Sequence[Path]) -> None:
        self.inner.finish(loggers[:-1], run, manifests)


def run_with_ticks(settings: Settings, tracker: Tracker) -> tuple[dict[str, float], list[float]]:
    """Train and test; returns the metrics, and the seconds of every epoch after the first."""
    ticker = Ticker()
    metrics = run(replace(settings, tracker=Ticking(tracker, ticker)))
    return metrics, [after - before for before, after in zip(ticker.ticks, ticker.ticks[1:], strict=False)]
