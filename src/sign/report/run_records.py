"""Runs read back for the report; an unreadable folder becomes an entry of the report, not an error."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sign.config.identity import CONTENT, flatten
from sign.errors import SignError
from sign.report.entries import Entries
from sign.runs import CONFIG, EPOCHS, METRICS, RUN, Run, find_runs
from sign.system.program import command_line

TRACKER_FOLDER = "wandb"  # within a run folder; holds files of the same names
MAX_CLASSES = 60  # of a confusion matrix; larger ones are neither read nor drawn
Part = TypeVar("Part")
FlatConfig = dict[str, Any]  # values by dotted name: {"model.p": 2}


@dataclass(frozen=True, eq=False)
class RunRecord:
    """A readable run; ``metrics`` is None while it is not finished.

    ``per_class`` and ``confusion`` are those of the test split, if the run recorded them.
    """

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
    per_class: list[dict[str, Any]]
    confusion: tuple[list[str], list[list[int]]] | None

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
    records: list[RunRecord] = []
    problems: list[FolderProblem] = []
    for run in find_runs(folders):
        try:
            record = _read(run, problems)
        except Exception as error:  # whatever a folder holds, the others are shown
            problems.append(damaged(run.folder, error))
            continue
        records.append(record)
        if record.metrics is None:
            problems.append(FolderProblem(str(run.folder), _how_to_resume(run, len(record.epochs))))
    return records, problems + _without_description(folders)


def damaged(folder: Path, error: object) -> FolderProblem:
    """A folder that cannot be read; paths in the message are relative to it."""
    text = str(error) if isinstance(error, SignError | str) else f"{type(error).__name__}: {error}"
    return FolderProblem(str(folder), f"damaged: {text}".replace(f"{folder}/", ""))


def _read(run: Run, problems: list[FolderProblem]) -> RunRecord:
    description, metrics = Entries(RUN, run.description), run.metrics
    content = {CONTENT: text} if (text := description.text("content")) else {}
    return RunRecord(
        folder=str(run.folder),
        dataset=description.name("dataset"),
        model=description.name("model"),
        experiment=description.text("experiment"),
        job_type=description.text("job_type") or "train",
        seed=description.integer("seed"),
        started=description.text("started"),
        metrics=None if metrics is None else _distinct(Entries(METRICS, metrics).numbers()),
        epochs=[_distinct(_finite(row)) for row in run.epochs()],
        flat_config=flatten(run.config) | content,
        hops=[_hop(hop) for hop in description.objects("hops")],
        products=description.integer("products"),
        rows_computed=description.integer("rows_computed"),
        rows_saved=description.integer("rows_saved"),
        per_class=(per_class := _part(run, run.per_class, problems) or []),
        confusion=_part(run, run.confusion, problems) if len(per_class) <= MAX_CLASSES else None,
    )


def _part(run: Run, read: Callable[[], Part], problems: list[FolderProblem]) -> Part | None:
    """A part of a run that the report can do without."""
    try:
        return read()
    except SignError as error:
        problems.append(damaged(run.folder, f"{error}; the run is shown without it"))
        return None


def _hop(hop: Entries) -> dict[str, Any]:
    return (
        {key: hop.text(key) for key in ("name", "operator", "scope")}
        | {key: hop.number(key) for key in ("rows", "columns", "bytes", "seconds", "products")}
        | {"found": bool(hop.values.get("found"))}
    )


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _distinct(metrics: dict[str, float]) -> dict[str, float]:
    """Metrics without micro-F1 where there is accuracy: runs with one label per node once recorded both, equal."""
    return {
        name: value
        for name, value in metrics.items()
        if not name.endswith("/micro_f1") or name.replace("micro_f1", "accuracy") not in metrics
    }


def _how_to_resume(run: Run, epochs: int) -> str:
    trained = f"not finished: {epochs} epoch{'' if epochs == 1 else 's'}"
    if (file := run.last_checkpoint) is None:
        return f"{trained} and no checkpoint; start it again"
    return f"{trained}; resume with {command_line('train')} ckpt_path={file}"


def _without_description(folders: Iterable[Path]) -> list[FolderProblem]:
    """Folders that hold files of a run, but no ``run.json``."""
    found = {
        file.parent
        for folder in folders
        for name in (CONFIG, EPOCHS, METRICS)
        for file in folder.rglob(name)
        if not (file.parent / RUN).exists() and TRACKER_FOLDER not in file.relative_to(folder).parts
    }
    reason = f"no {RUN}, which describes the run (a run of an early version?)"
    return [damaged(folder, reason) for folder in sorted(found)]
