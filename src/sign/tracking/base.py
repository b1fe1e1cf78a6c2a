"""Where metrics go beside ``metrics.csv``."""

import netrc
import os
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.error import HTTPError
from urllib.parse import urlparse
from urllib.request import urlopen

from sign.errors import SignError
from sign.runs import CHECKPOINTS, Run
from sign.system.console import console
from sign.tracking import tables
from sign.validation import Range, Validated

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger


@dataclass(frozen=True)
class RunCard:
    """What a tracker shows of a run."""

    name: str
    group: str
    job_type: str
    tags: list[str]
    config: dict[str, Any]
    folder: Path


@dataclass(frozen=True)
class Tracker(Validated, ABC):
    """A place that metrics are sent to."""

    @abstractmethod
    def start(self, run: RunCard) -> "list[Logger]":
        """The Lightning loggers of one run."""

    def finish(self, loggers: "list[Logger]", run: Run, manifests: Sequence[Path]) -> None:
        """Hand over what the run folder holds, with the manifests of its hops, and close."""


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
    checkpoints: bool = False

    def start(self, run: RunCard) -> "list[Logger]":
        """Open the run, offline if need be."""
        from pytorch_lightning.loggers import WandbLogger

        opened, reason = self._open_anyhow(run)
        if reason:
            console.print(f"[dim]W&B: {reason}[/dim]", soft_wrap=True)
        return [WandbLogger(experiment=opened)]

    @contextmanager
    def opened(self, run: RunCard) -> Iterator[Any]:
        """A run of W&B itself, for what is not logged by Lightning."""
        opened, _ = self._open_anyhow(run)
        try:
            yield opened
        finally:
            opened.finish()

    def exhibit(self, run: RunCard, tables: dict[str, tables.Exhibit]) -> None:
        """A run of tables alone."""
        import wandb

        with self.opened(run) as opened:
            opened.log(
                {f"tables/{name}": wandb.Table([*made.columns], made.rows) for name, made in tables.items()}
            )

    def _open_anyhow(self, run: RunCard) -> tuple[Any, str]:
        """The run, and why it is not online if it is not."""
        mode, reason = self.reach()
        if mode == "online":
            try:
                return self._open(run, mode, timeout=self.timeout / 2), ""
            except Exception as error:  # wandb raises many kinds, and none of them may stop a run
                mode, reason = "offline", f"the service did not answer ({type(error).__name__})"
        opened = self._open(run, mode, timeout=self.timeout)
        return opened, f"{mode}, because {reason}" if reason else ""

    def finish(self, loggers: "list[Logger]", run: Run, manifests: Sequence[Path]) -> None:
        """Add the summary, the tables and the artifacts of a run, and close it; one that failed has none."""
        for logger in loggers:
            opened: Any = logger.experiment  # type: ignore[attr-defined]
            if finished := run.metrics is not None:
                self._show(opened, run, manifests)
            opened.finish(exit_code=0 if finished else 1)

    def _show(self, opened: Any, run: Run, manifests: Sequence[Path]) -> None:
        import wandb

        opened.summary.update(tables.summary(run))
        curve = tables.convergence(run)
        sources = {"paper": tables.against_the_paper(run), "hops": tables.hops(run), "convergence": curve}
        made = {name: wandb.Table([*made.columns], made.rows) for name, made in sources.items() if made.rows}
        shown: dict[str, Any] = {f"tables/{name}": table for name, table in made.items()}
        if curve.rows:
            measure = curve.columns[-1]
            shown["convergence"] = wandb.plot.line(
                made["convergence"], "seconds", measure, title="Convergence"
            )
        opened.log(shown)
        told = run.description
        name = re.sub(r"[^\w.-]+", "-", f"{told['dataset']}-{told['model']}")
        files = {f"{file.parent.name}.json": file for file in manifests}
        self._artifact(opened, f"hops-{name}", "hops", files)
        if self.checkpoints:
            best = run.folder / CHECKPOINTS / "best.ckpt"
            self._artifact(opened, f"checkpoint-{name}-seed{told['seed']}", "model", {best.name: best})

    def _artifact(self, opened: Any, name: str, kind: str, files: dict[str, Path]) -> None:
        import wandb

        artifact = wandb.Artifact(name, kind)
        for title, file in files.items():
            artifact.add_file(str(file), title)
        opened.log_artifact(artifact)

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
            job_type=run.job_type,
            mode=mode,
            reinit="finish_previous",
            settings=wandb.Settings(
                init_timeout=timeout,
                login_timeout=timeout,
                finish_timeout=self.timeout,
                silent=True,
                console="off",
            ),
        )

    def reach(self) -> tuple[Any, str]:
        """The mode to try, and why it is not online if it is not."""
        chosen = os.environ.get("WANDB_MODE") or ("" if self.mode == "auto" else self.mode)
        if chosen and chosen != "online":
            if chosen not in ("offline", "disabled", "shared", "dryrun"):
                raise SignError(f"WANDB_MODE={chosen}: choose one of online, offline, disabled")
            return chosen, ""
        address = os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")
        host = urlparse(address).hostname
        if not address.startswith(("http://", "https://")) or not host:
            raise SignError(f"WANDB_BASE_URL={address}: not an address; it starts with https://")
        if not chosen and not _has_key(host):
            return "offline", "no key is configured; run `wandb login` to see runs online"
        if not _answers(address, self.timeout / 3):
            return "offline", f"{host} does not answer"
        return "online", ""


def _answers(address: str, timeout: float) -> bool:
    """Whether a web server says anything at all within the time, name look-up included."""
    answered = threading.Event()

    def ask() -> None:
        try:
            urlopen(address, timeout=timeout).close()
        except HTTPError:  # an answer, too
            answered.set()
        except (OSError, HTTPException, ValueError):
            return
        answered.set()

    threading.Thread(target=ask, daemon=True).start()
    return answered.wait(timeout)


def _has_key(host: str) -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
