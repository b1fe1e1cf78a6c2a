"""The contract of a tracker: where metrics go besides ``metrics.csv``."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sign.runs import Run
from sign.validation import Validated

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger


@dataclass(frozen=True)
class RunInfo:
    """Name, grouping, tags, configuration and folder under which a tracker registers a run."""

    name: str
    group: str
    job_type: str
    tags: list[str]
    config: dict[str, Any]
    folder: Path


@dataclass(frozen=True)
class Tracker(Validated, ABC):
    """A service that metrics are sent to."""

    @abstractmethod
    def start(self, info: RunInfo) -> "list[Logger]":
        """Register a run; returns its Lightning loggers."""

    def finish(self, loggers: "list[Logger]", run: Run, manifests: Sequence[Path]) -> None:
        """Upload what the run folder and the manifests of its hops hold, and close the loggers."""


@dataclass(frozen=True)
class NoTracker(Tracker):
    """Only ``metrics.csv`` and ``metrics.json``, which every run folder has."""

    def start(self, info: RunInfo) -> "list[Logger]":
        """Return no logger."""
        return []
