"""How the tables look: their columns, and numbers as people read them. The page and Markdown share it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sign.system import memory

MISSING = "—"


@dataclass(frozen=True)
class Column:
    """A column of a table: which value, how it is written, and what it means.

    ``spread`` names the value of its standard deviation; ``digits`` that of the decimals; ``bar`` draws the size
    behind the number.
    """

    key: str
    title: str
    kind: str = "text"
    hint: str = ""
    spread: str = ""
    bar: bool = False
    digits: str = ""


@dataclass(frozen=True)
class Layout:
    """A table: its name in addresses, its caption, and its columns."""

    name: str
    caption: str
    columns: Sequence[Column]


WHAT = (Column("dataset", "data set"), Column("model", "model"))
WHICH = (
    Column("experiment", "experiment", hint="the file of conf/experiment"),
    Column("variant", "settings", "long", hint="what tells groups of one model apart"),
)

RESULTS = Layout(
    "results",
    "Test split, mean ± standard deviation (of the population) over seeds, beside the paper's",
    (
        *WHAT,
        Column("mean", "ours", "score", "test split", spread="std"),
        Column("paper", "paper", "score", "as printed", spread="paper_std", digits="paper_digits"),
        Column(
            "difference",
            "difference",
            "difference",
            "ours less the paper's; coloured where it is beyond both deviations",
        ),
        Column("val_mean", "validation", "score", "ours, on the validation split", spread="val_std"),
        Column("runs", "runs", "count", "finished runs, one for each seed"),
        Column("metric", "metric"),
        *WHICH,
        Column("source", "source", "text", "where the published number is from"),
    ),
)
COSTS = Layout(
    "costs",
    "What a run costs: means over seeds",
    (
        *WHAT,
        Column("precompute", "precomputation", "seconds", "once, for all runs on these hops", bar=True),
        Column("epoch", "an epoch", "seconds", "training alone, without evaluation", bar=True),
        Column("epochs", "epochs", "count"),
        Column("training", "training", "seconds", "all epochs, without evaluation", bar=True),
        Column("inference", "inference", "seconds", "on the test split, from stored hops", bar=True),
        Column("memory", "peak memory", "bytes", bar=True),
        Column("parameters", "parameters", "count"),
        Column("bytes", "hops", "bytes", "arrays that the network reads", bar=True),
        Column("products", "products", "count", "sparse products that these runs computed"),
        Column("rows_computed", "rows computed", "count"),
        Column("rows_saved", "rows saved", "count", "rows of products that nothing needed"),
        *WHICH,
    ),
)
HOPS = Layout(
    "hops",
    "Hop arrays in the store: what they take and what they took",
    (
        Column("dataset", "data set"),
        Column("hop", "hop"),
        Column("operator", "operator", "long"),
        Column("scope", "scope", hint="the graph that it was computed on: of the training nodes, or full"),
        Column("rows", "rows", "count"),
        Column("columns", "columns", "count"),
        Column("bytes", "size", "bytes", bar=True),
        Column("seconds", "seconds", "seconds", bar=True),
        Column("products", "products", "count"),
        Column("computed", "computed", "count", "runs that computed it"),
        Column("found", "found", "count", "runs that found it in the store"),
    ),
)
RUNS = Layout(
    "runs",
    "Every run",
    (
        *WHAT,
        WHICH[0],
        Column("job_type", "job_type"),
        Column("seed", "seed", "count"),
        Column("state", "state"),
        Column("test", "test", "score"),
        Column("val", "validation", "score"),
        Column("train", "training", "score"),
        Column("loss", "validation loss", "score"),
        Column("epochs", "epochs", "count"),
        Column("epoch", "an epoch", "seconds"),
        Column("started", "started", "time"),
        Column("folder", "folder", "path"),
    ),
)
CHANGES = Layout(
    "changes",
    "Settings that are not the same in all runs, and how many runs have each value",
    (Column("setting", "setting"), Column("values", "values", "counts")),
)
PROBLEMS = Layout(
    "problems",
    "Folders that are left out, or shown as far as they go",
    (Column("folder", "folder", "path"), Column("reason", "reason", "long")),
)


def write(row: dict[str, Any], column: Column) -> str:
    """One cell as text."""
    digits = row.get(column.digits) or 4
    text = _written(row.get(column.key), column.kind, digits)
    spread = row.get(column.spread) if column.spread else None
    return text if spread is None else f"{text} ± {_written(spread, column.kind, digits)}"


def _written(value: Any, kind: str, digits: int) -> str:
    if value is None or value == "":
        return MISSING
    if kind == "counts":
        return ", ".join(f"{name} ({count})" for name, count in value.items())
    if isinstance(value, str):
        return value.replace("T", " ")[:16] if kind == "time" else value
    writers = {
        "score": lambda: f"{value:.{digits}f}",
        "difference": lambda: f"{value:+.4f}".replace("-", "−"),
        "seconds": lambda: seconds(value),
        "bytes": lambda: memory.format_size(value),
        "count": lambda: f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}",
    }
    return writers.get(kind, lambda: str(value))()


def seconds(value: float) -> str:
    """A duration with three digits and a unit that suits it.

    >>> seconds(0.00123), seconds(0.5), seconds(75), seconds(7500)
    ('1.23 ms', '0.5 s', '75 s', '125 min')
    """
    if value >= 600:
        return f"{value / 60:.0f} min"
    if value >= 0.1:
        return f"{value:.3g} s"
    return f"{value * 1000:.3g} ms"


def markdown(layout: Layout, rows: Sequence[dict[str, Any]]) -> str:
    """A Markdown table; columns without any value are left out."""
    columns = [column for column in layout.columns if any(write(row, column) != MISSING for row in rows)]
    if not columns:
        return "Nothing yet.\n"
    right = {"count", "score", "difference", "seconds", "bytes"}
    lines = [
        [column.title for column in columns],
        ["---:" if column.kind in right else "---" for column in columns],
        *([_safe(write(row, column)) for column in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _safe(text: str) -> str:
    """Text that stays in its cell and is shown as it is."""
    for sign in "\\|`*_[]<>":
        text = text.replace(sign, f"&#{ord(sign)};" if sign in "|<>" else f"\\{sign}")
    return " ".join(text.split())
