"""Weights & Biases: online, or offline where the service cannot be reached."""

import logging
import netrc
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
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
from sign.system.atomic_files import write_text
from sign.tracking import run_tables
from sign.tracking.base import RunInfo, Tracker
from sign.tracking.run_tables import TrackerTable
from sign.validation import Range

if TYPE_CHECKING:
    from pytorch_lightning.loggers import Logger

log = logging.getLogger(__name__)
RUN_ID = "wandb-id.txt"  # in the run folder: the run of W&B that a resumed run continues
OFFLINE_MODES = ("offline", "disabled", "shared", "dryrun")  # values of WANDB_MODE other than online


@dataclass(frozen=True)
class WandB(Tracker):
    """Log to W&B.

    Parameters
    ----------
    project, entity
        Where runs go; ``entity=None`` is the user's default.
    mode
        ``auto`` is online where an API key is configured and the service responds.
    timeout
        Seconds to wait for the service. A run that cannot reach it continues offline; ``wandb sync`` uploads it.
    checkpoints
        Whether the best checkpoint becomes an artifact.
    """

    project: str = "sign"
    entity: str | None = None
    mode: Literal["auto", "online", "offline"] = "auto"
    timeout: Annotated[float, Range(1, 600)] = 15
    checkpoints: bool = False

    def start(self, info: RunInfo) -> "list[Logger]":
        """Open a run of W&B, or the one that a resumed run continues; without W&B if that fails.

        It is offline if the service cannot be reached.
        """
        from sign.tracking.step_logger import StepLogger

        file = info.folder / RUN_ID
        run_id = file.read_text().strip() if file.is_file() else os.environ.get("WANDB_RUN_ID") or secrets.token_hex(4)
        try:
            wandb_run, reason = self._open(info, run_id)
        except SignError as error:
            log.warning("W&B: the run continues without it (%s)", error)
            return []
        write_text(file, f"{run_id}\n")
        if reason:
            log.info("W&B: %s", reason)
        return [StepLogger(wandb_run)]

    def finish(self, loggers: "list[Logger]", run: Run, manifests: Sequence[Path]) -> None:
        """Log the summary, tables and artifacts of a finished run, and close it; a failed run has exit code 1."""
        for logger in loggers:
            wandb_run: Any = logger.experiment  # type: ignore[attr-defined]
            if finished := run.metrics is not None:
                self._log_results(wandb_run, run, manifests)
            wandb_run.finish(exit_code=0 if finished else 1)

    @contextmanager
    def open_run(self, info: RunInfo) -> Iterator[Any]:
        """A run of W&B for what is not logged by Lightning; raises SignError if it cannot be opened."""
        wandb_run, _ = self._open(info)
        try:
            yield wandb_run
        finally:
            wandb_run.finish()

    def log_tables(self, info: RunInfo, tables: Mapping[str, TrackerTable]) -> None:
        """Create a run that holds only tables."""
        try:
            with self.open_run(info) as wandb_run:
                wandb_run.log(_wandb_tables(tables))
        except SignError as error:
            log.warning("W&B: %s are not sent (%s)", ", ".join(tables), error)

    def select_mode(self) -> tuple[Any, str]:
        """Return the mode to try, and the reason where it is not online although that was not excluded."""
        mode = os.environ.get("WANDB_MODE") or ("" if self.mode == "auto" else self.mode)
        if mode and mode != "online":
            if mode not in OFFLINE_MODES:
                raise SignError(f"WANDB_MODE={mode}: choose one of online, offline, disabled")
            return mode, ""
        url = os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai")
        host = urlparse(url).hostname
        if not url.startswith(("http://", "https://")) or not host:
            raise SignError(f"WANDB_BASE_URL={url}: must be a URL that starts with https://")
        if not mode and not _has_key(host):
            return "offline", "no API key is configured; run `wandb login` to see runs online"
        if not _responds(url, self.timeout / 3):
            return "offline", f"{host} does not respond"
        return "online", ""

    def _open(self, info: RunInfo, run_id: str | None = None) -> tuple[Any, str]:
        """Return the run, and the reason where it is offline although that was not asked for.

        Raises
        ------
        SignError
            If W&B rejects its settings, such as an environment variable.
        """
        mode, reason = self.select_mode()
        if mode == "online":
            try:
                return self._init(info, run_id, mode, timeout=self.timeout / 2), ""
            except Exception as error:  # wandb raises many types, and none of them may stop a run
                mode, reason = "offline", f"the service does not respond ({type(error).__name__})"
        try:
            wandb_run = self._init(info, run_id, mode, self.timeout)
        except Exception as error:
            raise SignError(_problem(error)) from error
        return wandb_run, f"{mode}, because {reason}" if reason else ""

    def _init(self, info: RunInfo, run_id: str | None, mode: Any, timeout: float) -> Any:
        import wandb

        return wandb.init(
            id=run_id,
            resume="allow" if run_id else None,
            project=self.project,
            entity=self.entity,
            dir=info.folder,
            name=info.name,
            group=info.group,
            tags=info.tags,
            config=info.config,
            job_type=info.job_type,
            mode=mode,
            reinit="create_new",
            settings=wandb.Settings(
                init_timeout=timeout, login_timeout=timeout, finish_timeout=self.timeout, silent=True, console="off"
            ),
        )

    def _log_results(self, wandb_run: Any, run: Run, manifests: Sequence[Path]) -> None:
        import wandb

        wandb_run.summary.update(run_tables.summary(run))
        logged = _wandb_tables(run_tables.tables(run))
        if curve := logged.get("tables/convergence"):
            logged["convergence"] = wandb.plot.line(curve, "seconds", curve.columns[-1], title="Convergence")
        wandb_run.log(logged)
        name = re.sub(r"[^\w.-]+", "-", f"{run.description['dataset']}-{run.description['model']}")
        _log_artifact(wandb_run, f"hops-{name}", "hops", {f"{file.parent.name}.json": file for file in manifests})
        if self.checkpoints:
            best, seed = run.folder / CHECKPOINTS / "best.ckpt", run.description["seed"]
            _log_artifact(wandb_run, f"checkpoint-{name}-seed{seed}", "model", {best.name: best})


def _problem(error: Exception) -> str:
    """Return one line for an error of W&B; a setting that it rejects comes from an environment variable."""
    if hasattr(error, "errors"):  # pydantic's ValidationError
        first = error.errors()[0]
        return f"WANDB_{'_'.join(map(str, first['loc'])).upper()}={first['input']}: {first['msg']}"
    return " ".join(f"{type(error).__name__}: {error}".split())


def _wandb_tables(tables: Mapping[str, TrackerTable]) -> dict[str, Any]:
    import wandb

    return {f"tables/{name}": wandb.Table([*table.columns], table.rows) for name, table in tables.items()}


def _log_artifact(wandb_run: Any, name: str, kind: str, files: Mapping[str, Path]) -> None:
    import wandb

    artifact = wandb.Artifact(name, kind)
    for title, file in files.items():
        artifact.add_file(str(file), title)
    wandb_run.log_artifact(artifact)


def _responds(url: str, timeout: float) -> bool:
    """Whether a web server responds at all: without this probe a run waits for wandb's retries."""
    try:
        urlopen(url, timeout=timeout).close()
    except HTTPError:  # a response as well
        return True
    except (OSError, HTTPException, ValueError):
        return False
    return True


def _has_key(host: str) -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc(os.environ.get("NETRC")).authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
