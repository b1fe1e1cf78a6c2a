"""Runs read back for the report; an unreadable folder becomes an entry of the report, not an error."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.config.identity import CONTENT, flatten
from sign.errors import SignError
from sign.runs import CONFIG, EPOCHS, METRICS, RUN, Run, find_runs

TRACKER_FOLDER = "wandb"  # within a run folder; holds files of the same names
FlatConfig = dict[str, Any]  # values by dotted name: {"model.p": 2}


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A readable run; ``metrics`` is None while it is not finished."""

    folder: str
    dataset: str
    model: str
    experiment: str
    job_type: str
    seed: int | None
    started: str
    metrics: dict[str, float] | None
    epochs: list[dict[str, float]]
    flat_config: FlatConfig
    hops: list[dict[str, Any]]
    products: int | None
    rows_computed: int | None
    rows_saved: int | None

    @property
    def metric(self) -> str:
        """The reported metric: accuracy, or micro-F1 for multilabel data."""
        known = {*(self.metrics or {}), *(name for row in self.epochs[:1] for name in row)}
        return "accuracy" if {"test/accuracy", "val/accuracy"} & known else "micro_f1"


@dataclass(frozen=True)
class FolderProblem:
    """A folder that is left out or shown in part, and the reason."""

    folder: str
    reason: str


def read_runs(folders: Iterable[Path]) -> tuple[list[RunRecord], list[FolderProblem]]:
    """Read the runs in or below ``folders``; the second list names unfinished and damaged ones."""
    folders = [Path(folder) for folder in folders]
    records, problems = [], []
    for run in find_runs(folders):
        try:
            record = _read(run)
        except (SignError, OSError, ValueError, TypeError) as error:
            problems.append(damaged(run.folder, error))
            continue
        records.append(record)
        if record.metrics is None:
            problems.append(FolderProblem(str(run.folder), _how_to_resume(run, len(record.epochs))))
    return records, problems + _without_description(folders)


def damaged(folder: Path, error: object) -> FolderProblem:
    """A folder that cannot be read; paths in the message are relative to it."""
    return FolderProblem(str(folder), f"damaged: {error}".replace(f"{folder}/", ""))


def _read(run: Run) -> RunRecord:
    description, metrics = run.description, run.metrics
    content = {CONTENT: description["content"]} if description.get("content") else {}
    return RunRecord(
        folder=str(run.folder),
        dataset=_name(description, "dataset"),
        model=_name(description, "model"),
        experiment=str(description.get("experiment") or ""),
        job_type=str(description.get("job_type") or "train"),
        seed=_integer(description.get("seed")),
        started=str(description.get("started") or ""),
        metrics=None if metrics is None else _finite(metrics),
        epochs=[_finite(row) for row in run.epochs()],
        flat_config=flatten(run.config) | content,
        hops=[hop for hop in description.get("hops") or [] if isinstance(hop, dict)],
        products=_integer(description.get("products")),
        rows_computed=_integer(description.get("rows_computed")),
        rows_saved=_integer(description.get("rows_saved")),
    )


def _finite(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: value for name, value in values.items() if isinstance(value, int | float) and math.isfinite(value)}


def _name(description: Mapping[str, Any], key: str) -> str:
    value = description.get(key)
    if not isinstance(value, str) or not value:
        raise SignError(f"{RUN}: {key}={value}: must be a non-empty string")
    return value


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _how_to_resume(run: Run, epochs: int) -> str:
    trained = f"not finished: {epochs} epoch{'' if epochs == 1 else 's'}"
    if (file := run.last_checkpoint) is None:
        return f"{trained} and no checkpoint; start it again"
    return f"{trained}; resume with python src/train.py ckpt_path={file}"


def _without_description(folders: Iterable[Path]) -> list[FolderProblem]:
    """Folders that hold files of a run, but no ``run.json``."""
    found = {
        file.parent
        for folder in folders
        for name in (CONFIG, EPOCHS, METRICS)
        for file in folder.rglob(name)
        if not (file.parent / RUN).is_file() and TRACKER_FOLDER not in file.relative_to(folder).parts
    }
    reason = f"no {RUN}, which describes the run (a run of an early version?)"
    return [damaged(folder, reason) for folder in sorted(found)]
