"""The published numbers that ours are compared with, and the experiment of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

FILE = Path(__file__).with_name("published.yaml")


@dataclass(frozen=True)
class PublishedCell:
    """One number of a published table. ``experiment`` is None for a system that is not implemented here."""

    table: str
    row: str
    column: str
    dataset: str
    metric: str
    mean: float | None
    std: float | None
    experiment: str | None
    scale: float = 1.0

    def ours(self, metrics: dict[str, dict[str, Any]]) -> tuple[float, float] | None:
        """Mean and standard deviation of this cell's metric in a series, in the unit of the table.

        The micro-F1 of single labels is their accuracy, and runs have it under that name.
        """
        values = metrics.get(self.metric) or metrics.get(self.metric.replace("micro_f1", "accuracy"))
        return None if values is None else (values["mean"] * self.scale, values["std"] * self.scale)


@dataclass(frozen=True)
class PublishedTable:
    """A table of the paper; ``cells`` holds one cell per column, row by row."""

    name: str
    title: str
    source: str
    notes: str
    digits: int  # decimals
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[PublishedCell, ...]

    def row(self, name: str) -> list[PublishedCell]:
        """The cells of one row."""
        return [cell for cell in self.cells if cell.row == name]

    @property
    def experiments(self) -> list[str]:
        """The experiments of all cells without duplicates."""
        return list(dict.fromkeys(cell.experiment for cell in self.cells if cell.experiment))


@cache
def published_tables() -> dict[str, PublishedTable]:
    """All published tables by name."""
    entries: Any = OmegaConf.to_container(OmegaConf.load(FILE))
    return {name: _table(name, _with_content(entry, entries)) for name, entry in entries.items()}


def published_cells(experiment: str | None) -> list[PublishedCell]:
    """The cells of an experiment in all tables; none for ``None``."""
    return [cell for cell in _all_cells() if cell.experiment and cell.experiment == experiment]


def published_results(dataset: str, model: str) -> list[PublishedCell]:
    """The cells of a model, such as ``SIGN(4,0,1)``, on a data set."""
    name = dataset.removeprefix("ogbn-")
    return [cell for cell in _all_cells() if cell.experiment and cell.dataset == name and cell.row == model]


def _all_cells() -> Iterator[PublishedCell]:
    return (cell for table in published_tables().values() for cell in table.cells)


def _with_content(entry: dict[str, Any], entries: dict[str, Any]) -> dict[str, Any]:
    """A table itself, or, if it is another metric of the runs of a table, with the columns and rows of that one."""
    if "runs_of" not in entry:
        return entry
    other = entries[entry["runs_of"]]
    columns = {column: spec | {"metric": entry["metric"]} for column, spec in other["columns"].items()}
    rows = {row: {"experiment": content["experiment"]} for row, content in other["rows"].items()}
    return entry | {"columns": columns, "rows": rows}


def _table(name: str, entry: dict[str, Any]) -> PublishedTable:
    return PublishedTable(
        name=name,
        title=entry["title"],
        source=entry.get("source", ""),
        notes=entry.get("notes", ""),
        digits=entry.get("digits", 3),
        columns=tuple(entry["columns"]),
        rows=tuple(entry["rows"]),
        cells=tuple(_cells(name, entry)),
    )


def _cells(name: str, entry: dict[str, Any]) -> Iterator[PublishedCell]:
    columns = entry["columns"]
    for row, content in entry["rows"].items():
        experiments = content.get("experiment")
        if not isinstance(experiments, list):
            experiments = [experiments] * len(columns)
        values = content.get("values", [None] * len(columns))
        for (column, spec), value, pattern in zip(columns.items(), values, experiments, strict=True):
            mean, std = value or (None, None)
            dataset = content.get("dataset") or spec["dataset"]
            experiment = pattern and pattern.format(dataset=dataset)
            scale = spec.get("scale") or entry.get("scale", 1)
            yield PublishedCell(name, row, column, dataset, spec["metric"], mean, std, experiment, scale)
