"""What the report knows of a run: read once, checked, and never a reason to stop."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.runs import CONFIG, EPOCHS, METRICS, RUN, Run, find_runs

TRACKER = "wandb"  # a folder of a run folder, with files of the same names
Settings = dict[str, Any]  # dotted names of settings and their values


@dataclass(frozen=True, eq=False)
class Record:
    """A run that could be read; ``metrics`` is None while it is not finished."""

    folder: str
    dataset: str
    model: str
    experiment: str
    job_type: str
    seed: int | None
    started: str
    metrics: dict[str, float] | None
    epochs: list[dict[str, float]]
    settings: Settings
    hops: list[dict[str, Any]]
    products: int | None
    rows_computed: int | None
    rows_saved: int | None

    @property
    def metric(self) -> str:
        """What is reported of this run: accuracy, or micro-F1 where nodes have several labels."""
        known = {*(self.metrics or {}), *(name for row in self.epochs[:1] for name in row)}
        return "accuracy" if {"test/accuracy", "val/accuracy"} & known else "micro_f1"


@dataclass(frozen=True)
class Problem:
    """A folder that is left out, or shown in part, and why."""

    folder: str
    reason: str


def read(folders: Iterable[Path]) -> tuple[list[Record], list[Problem]]:
    """The runs in or below some folders, and what is wrong with those that are unfinished or damaged."""
    folders = [Path(folder) for folder in folders]
    records, problems = [], []
    for run in find_runs(folders):
        try:
            record = _record(run)
        except (SignError, OSError, ValueError, TypeError) as error:
            problems.append(Problem(str(run.folder), _reason(run.folder, error)))
            continue
        records.append(record)
        if record.metrics is None:
            problems.append(Problem(str(run.folder), _unfinished(run, record)))
    return records, problems + _strangers(folders)


def _record(run: Run) -> Record:
    told = run.description
    metrics = run.metrics
    return Record(
        folder=str(run.folder),
        dataset=_text(told, "dataset"),
        model=_text(told, "model"),
        experiment=str(told.get("experiment") or ""),
        job_type=str(told.get("job_type") or "train"),
        seed=_whole(told.get("seed")),
        started=str(told.get("started") or ""),
        metrics=None if metrics is None else _numbers(metrics),
        epochs=[_numbers(row) for row in run.epochs()],
        settings=flat(run.config),
        hops=[hop for hop in told.get("hops") or [] if isinstance(hop, dict)],
        products=_whole(told.get("products")),
        rows_computed=_whole(told.get("rows_computed")),
        rows_saved=_whole(told.get("rows_saved")),
    )


def flat(config: Mapping[str, Any], prefix: str = "") -> Settings:
    """Nested settings by their dotted names.

    >>> flat({"model": {"p": 2}, "seed": 0})
    {'model.p': 2, 'seed': 0}
    """
    found: Settings = {}
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Those values that are finite numbers."""
    return {
        str(name): value
        for name, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    if not isinstance(value, str) or not value:
        raise SignError(f"{RUN}: {name}={value} is not a name")
    return value


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _reason(folder: Path, error: BaseException) -> str:
    """The sentence of the error, without the folder that stands beside it."""
    return f"damaged: {error}".replace(f"{folder}/", "")


def _unfinished(run: Run, record: Record) -> str:
    epochs = f"{len(record.epochs)} epoch{'' if len(record.epochs) == 1 else 's'}"
    if (file := run.last_checkpoint) is None:
        return f"not finished: {epochs} and no checkpoint; start it again"
    return f"not finished: {epochs}; go on with python src/train.py ckpt_path={file}"


def _strangers(folders: Iterable[Path]) -> list[Problem]:
    """Folders with the files of a run that do not say what they are."""
    found = {
        file.parent: None
        for folder in folders
        for name in (CONFIG, EPOCHS, METRICS)
        for file in sorted(folder.rglob(name))
        if not (file.parent / RUN).is_file() and TRACKER not in file.relative_to(folder).parts
    }
    reason = f"damaged: no {RUN}, which says what was run (a run of an early version?)"
    return [Problem(str(folder), reason) for folder in sorted(found)]
