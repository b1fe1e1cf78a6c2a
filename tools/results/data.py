"""Results of reproduced tables as small JSON files, which are kept with the pages that show them."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from sign.published import PublishedTable, published_tables

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "docs" / "data"


@dataclass(frozen=True)
class Measured:
    """Mean and standard deviation of the runs of one cell, in the unit of its table."""

    mean: float
    std: float
    runs: int


@dataclass(frozen=True)
class Results:
    """A table, and the measured ones of its cells by row and column."""

    table: PublishedTable
    cells: dict[tuple[str, str], Measured]

    def number(self, row: str, column: str) -> tuple[float, float | None] | None:
        """Mean and standard deviation: measured, or published for a row that is not trained."""
        if measured := self.cells.get((row, column)):
            return measured.mean, measured.std
        (cell,) = (cell for cell in self.table.row(row) if cell.column == column)
        return None if cell.experiment or cell.mean is None else (cell.mean, cell.std)

    def rows(self, columns: tuple[str, ...]) -> list[str]:
        """The rows that have a number in one of the columns."""
        return [row for row in self.table.rows if any(self.number(row, column) for column in columns)]

    def text(self) -> str:
        """The content of the data file: one line per cell, so that a change is easy to read."""
        lines = [json.dumps({"row": row, "column": column, **vars(cell)}) for (row, column), cell in self.cells.items()]
        return f'{{"table": "{self.table.name}", "cells": [\n' + ",\n".join(lines) + "\n]}\n"


def read(name: str) -> Results:
    """Read the data file of a table."""
    content = json.loads((DATA / f"{name}.json").read_text())
    cells = {
        (cell["row"], cell["column"]): Measured(cell["mean"], cell["std"], cell["runs"]) for cell in content["cells"]
    }
    return Results(published_tables()[name], cells)


def reproduced(file: Path) -> Results:
    """Read a table as ``src/reproduce.py`` writes it, without numbers of generated look-alikes."""
    content = json.loads(file.read_text())
    cells = {
        (cell["row"], cell["column"]): Measured(**cell["ours"])
        for cell in content["cells"]
        if cell["ours"] and not cell["look_alike"]
    }
    return Results(published_tables()[content["table"]], cells)


def collect(folder: Path) -> list[Path]:
    """Write the data file of each reproduced table with measured cells, and of a benchmark, in ``folder``.

    Returns the files that are written.
    """
    written = []
    if (benchmark := folder / "diffusion.json").is_file():
        written.append(Path(shutil.copy(benchmark, DATA)))
    for name in published_tables():
        if (file := folder / f"{name}.json").is_file() and (results := reproduced(file)).cells:
            written.append(DATA / file.name)
            written[-1].write_text(results.text())
    return written
