"""What a finished run shows beside its curves: tables of plain values, for trackers."""

from dataclasses import dataclass
from typing import Any

from sign.published import published
from sign.runs import Run

MEASURES = ("seconds/training", "val/loss", "val/accuracy", "val/micro_f1")
SAVED = ("products", "rows_computed", "rows_saved")  # of run.json, in the summary beside the metrics


@dataclass(frozen=True)
class Exhibit:
    """A table."""

    columns: list[str]
    rows: list[list[Any]]


def summary(run: Run) -> dict[str, float]:
    """The final numbers, and what the hops took."""
    told = run.description
    taken = {f"hops/{name}": told[name] for name in SAVED}
    return (run.metrics or {}) | taken | {"hops/bytes": sum(hop["bytes"] for hop in told["hops"])}


def against_the_paper(run: Run) -> Exhibit:
    """This run beside what was published for its experiment; no rows where nothing was."""
    metrics = {name: {"mean": value, "std": 0.0} for name, value in (run.metrics or {}).items()}
    rows = []
    for cell in published(run.description["experiment"]):
        ours = cell.ours(metrics)
        if ours is None or cell.mean is None:
            continue
        rows.append(
            [
                cell.table,
                cell.row,
                cell.column,
                cell.metric,
                ours[0],
                cell.mean,
                cell.std,
                ours[0] - cell.mean,
            ]
        )
    columns = ["table", "row", "column", "metric", "ours", "paper", "paper ±", "difference"]
    return Exhibit(columns, rows)


def convergence(run: Run) -> Exhibit:
    """Seconds of training at the end of each epoch, and what was reached on validation nodes."""
    epochs = run.epochs()
    measures = [name for name in MEASURES if epochs and name in epochs[0]]
    return Exhibit(["seconds", *measures[1:]], [[row[name] for name in measures] for row in epochs])


def hops(run: Run) -> Exhibit:
    """Each hop array: what it is, and what it took."""
    told = run.description["hops"]
    columns = list(told[0]) if told else []
    return Exhibit(columns, [[hop[name] for name in columns] for hop in told])
