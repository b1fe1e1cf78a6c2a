"""Where metrics go beside ``metrics.csv``."""

import netrc
import os
import socket
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlparse

from sign.console import console
from sign.settings import Checked, Range

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger


@dataclass(frozen=True)
class RunCard:
    """What a tracker shows of a run."""

    name: str
    group: str
    tags: list[str]
    config: dict[str, Any]
    folder: Path


@dataclass(frozen=True)
class Tracker(Checked, ABC):
    """A place that metrics are sent to."""

    @abstractmethod
    def start(self, run: RunCard) -> "list[Logger]":
        """The Lightning loggers of one run."""

    def finish(self, loggers: "list[Logger]", summary: dict[str, float]) -> None:
        """Hand over the final numbers, and close."""


@dataclass(frozen=True)
class CsvOnly(Tracker):
    """``metrics.csv`` and ``metrics.json`` in the run folder, which every run has, and nothing else."""

    def start(self, run: RunCard) -> "list[Logger]":
        """No logger."""
        return []


@dataclass(frozen=True)
class WandB(Tracker):
    """Weights & Biases. ``mode=auto``: online where a key is configured and the service answers.

    An unreachable service never holds a run for more than ``timeout`` seconds: it goes on offline,
    and ``wandb sync`` uploads the run later.
    """

    project: str = "sign"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    timeout: Annotated[float, Range(1, 600)] = 15

    def start(self, run: RunCard) -> "list[Logger]":
        """Open the run, offline if need be."""
        from pytorch_lightning.loggers import WandbLogger

        deadline = time.monotonic() + self.timeout
        mode, reason = self._mode(deadline)
        if mode == "online":
            try:
                opened = self._open(run, mode, timeout=max(deadline - time.monotonic() - 2, 1))
            except Exception as error:  # wandb raises many kinds, and none of them may stop a run
                mode, reason = "offline", f"the service did not answer ({type(error).__name__})"
        if mode != "online":
            opened = self._open(run, mode, timeout=self.timeout)
        if reason:
            console.print(f"[dim]W&B: {mode}, because {reason}[/dim]")
        return [WandbLogger(experiment=opened)]

    def finish(self, loggers: "list[Logger]", summary: dict[str, float]) -> None:
        """Write the summary of the run and close it."""
        for logger in loggers:
            run: Any = logger.experiment  # type: ignore[attr-defined]
            run.summary.update(summary)
            run.finish()

    def _open(self, run: RunCard, mode: Any, timeout: float) -> Any:
        import wandb

        return wandb.init(
            project=self.project,
            entity=self.entity,
            dir=run.folder,
            name=run.name,
            group=run.group,
            tags=run.tags,
            config=run.config,
            job_type="train",
            mode=mode,
            reinit="finish_previous",
            settings=wandb.Settings(init_timeout=timeout, login_timeout=timeout, silent=True, console="off"),
        )

    def _mode(self, deadline: float) -> tuple[str, str]:
        """The mode to try, and why it is not online if it is not."""
        chosen = os.environ.get("WANDB_MODE") or ("" if self.mode == "auto" else self.mode)
        if chosen and chosen != "online":
            return chosen, ""
        address = urlparse(os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai"))
        host = address.hostname or "api.wandb.ai"
        if not chosen and not _has_key(host):
            return "offline", "no key is configured; run `wandb login` to see runs online"
        port = address.port or (443 if address.scheme == "https" else 80)
        try:
            socket.create_connection((host, port), timeout=(deadline - time.monotonic()) / 3).close()
        except OSError as error:
            return "offline", f"{host} cannot be reached ({error})"
        return "online", ""


def _has_key(host: str) -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
