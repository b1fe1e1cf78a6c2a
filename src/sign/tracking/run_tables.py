"""Summary and tables of a finished run as plain values, for trackers."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.published import published_cells
from sign.runs import CONFUSION, HOP_COSTS, PER_CLASS, SCORES, Run

CURVES = ("seconds/training", "val/loss", *(f"val/{name}" for name in reversed(SCORES)))  # the last one is plotted


@dataclass(frozen=True)
class TrackerTable:
    """Column names and rows of values."""

    columns: list[str]
    rows: list[list[Any]]


def summary(run: Run) -> dict[str, float]:
    """The final metrics and the costs of the hops."""
    costs = {f"hops/{name}": run.description[name] for name in HOP_COSTS}
    size = sum(hop["bytes"] for hop in run.description["hops"])
    return (run.metrics or {}) | costs | {"hops/bytes": size}


def tables(run: Run) -> dict[str, TrackerTable]:
    """Comparison with the paper, hops, convergence, and results by class; tables without rows are omitted."""
    found = {"paper": paper_comparison(run), "hops": hops(run), "convergence": convergence(run)}
    found |= {"per_class": csv_table(run.folder / PER_CLASS), "confusion": csv_table(run.folder / CONFUSION)}
    return {name: table for name, table in found.items() if table.rows}


def paper_comparison(run: Run) -> TrackerTable:
    """This run beside the numbers that were published for its experiment."""
    metrics = {name: {"mean": value, "std": 0.0} for name, value in (run.metrics or {}).items()}
    rows = []
    for cell in published_cells(run.description["experiment"]):
        ours = cell.ours(metrics)
        if ours and cell.mean is not None:
            where = (cell.table, cell.row, cell.column, cell.metric)
            rows.append([*where, ours[0], cell.mean, cell.std, ours[0] - cell.mean])
    columns = ["table", "row", "column", "metric", "ours", "paper", "paper ±", "difference"]
    return TrackerTable(columns, rows)


def convergence(run: Run) -> TrackerTable:
    """Seconds of training at the end of each epoch, and the metrics on the validation split."""
    epochs = run.epochs()
    names = [name for name in CURVES if epochs and name in epochs[0]]
    return TrackerTable(["seconds", *names[1:]], [[row[name] for name in names] for row in epochs])


def hops(run: Run) -> TrackerTable:
    """One row per hop array: what it is, and what it cost."""
    records = run.description["hops"]
    columns = list(records[0]) if records else []
    return TrackerTable(columns, [[hop[name] for name in columns] for hop in records])


def csv_table(file: Path) -> TrackerTable:
    """A table of the run folder whose first column is text and whose others are numbers; empty without the file."""
    if not file.is_file():
        return TrackerTable([], [])
    with file.open(newline="") as stream:
        columns, *rows = csv.reader(stream)
    return TrackerTable(columns, [[name, *map(float, values)] for name, *values in rows])
