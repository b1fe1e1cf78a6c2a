"""Summary and tables of a finished run as plain values, for trackers."""

from dataclasses import dataclass
from typing import Any

from sign.published import published_cells
from sign.runs import HOP_COSTS, Run

CURVES = ("seconds/training", "val/loss", "val/accuracy", "val/micro_f1")


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
    """Comparison with the paper, hops and convergence; tables without rows are omitted."""
    found = {"paper": paper_comparison(run), "hops": hops(run), "convergence": convergence(run)}
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
