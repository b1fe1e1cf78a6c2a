"""The published numbers that ours are compared with, and which experiment is which cell."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

FILE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Cell:
    """One number of a table; without an ``experiment`` it is another system's."""

    table: str
    row: str
    column: str
    metric: str
    mean: float | None
    std: float | None
    experiment: str | None
    scale: float = 1.0

    def ours(self, metrics: dict[str, dict[str, Any]]) -> tuple[float, float] | None:
        """Mean and deviation of a series in the table's unit."""
        found = metrics.get(self.metric)
        return None if found is None else (found["mean"] * self.scale, found["std"] * self.scale)


@dataclass(frozen=True)
class Table:
    """A table of the paper. ``cells`` are row by row, one for each column."""

    name: str
    title: str
    source: str
    notes: str
    unit: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: tuple[Cell, ...]

    def row(self, name: str) -> list[Cell]:
        """The cells of one row."""
        return [cell for cell in self.cells if cell.row == name]

    @property
    def digits(self) -> int:
        """Decimals that are shown, as the paper shows them."""
        return 3 if self.cells[0].scale == 1 and not self.unit else 2

    @property
    def experiments(self) -> list[str]:
        """The experiments of all cells, each once."""
        return list(dict.fromkeys(cell.experiment for cell in self.cells if cell.experiment))


@cache
def tables() -> dict[str, Table]:
    """All published tables by name."""
    entries: Any = OmegaConf.to_container(OmegaConf.load(FILE))
    return {name: _table(name, entry) for name, entry in entries.items()}


def published(experiment: str | None) -> list[Cell]:
    """What was published for an experiment, in whichever tables."""
    cells = [cell for table in tables().values() for cell in table.cells if cell.experiment]
    return [cell for cell in cells if cell.experiment == experiment]


def _table(name: str, entry: dict[str, Any]) -> Table:
    return Table(
        name=name,
        title=entry["title"],
        source=entry["source"],
        notes=entry.get("notes", ""),
        unit=entry.get("unit", ""),
        columns=tuple(entry["columns"]),
        rows=tuple(entry["rows"]),
        cells=tuple(_cells(name, entry)),
    )


def _cells(name: str, entry: dict[str, Any]) -> Iterator[Cell]:
    columns = entry["columns"]
    for row, told in entry["rows"].items():
        named = told.get("experiment")
        values = told.get("values", [None] * len(columns))
        names = named if isinstance(named, list) else [named] * len(columns)
        for (column, what), value, experiment in zip(columns.items(), values, names, strict=True):
            mean, std = value or (None, None)
            own = experiment and experiment.format(dataset=what["dataset"])
            yield Cell(name, row, column, what["metric"], mean, std, own, entry.get("scale", 1))
