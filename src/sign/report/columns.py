"""The columns of the report's tables, and values as text; shared by the page, Markdown and the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sign.runs import SCORES
from sign.system import memory
from sign.system.text_files import visible

MISSING = "—"
NUMERIC = ("count", "score", "published", "difference", "seconds", "bytes")  # kinds that are aligned to the right
ESCAPES = str.maketrans({**{c: f"\\{c}" for c in "\\`*_[]~"}, **{c: f"&#{ord(c)};" for c in "&|<>$"}})  # of Markdown


@dataclass(frozen=True)
class ColumnSpec:
    """A column of a table: the key of its values in the rows, the heading, the format and an explanation."""

    key: str
    title: str
    kind: str = "text"
    hint: str = ""
    spread: str = ""  # key of the standard deviation
    bar: bool = False  # drawn behind the number on the page
    digits: str = ""  # key of the number of decimals
    remark: str = ""  # key of a text that follows the number


@dataclass(frozen=True)
class TableSpec:
    """A table: its name in URLs, its caption and its columns."""

    name: str
    caption: str
    columns: Sequence[ColumnSpec]

    def with_values(self, rows: Sequence[dict[str, Any]]) -> list[ColumnSpec]:
        """The columns in which some row has a value."""
        return [column for column in self.columns if any(cell(row, column) != MISSING for row in rows)]


DATA_AND_MODEL = (ColumnSpec("dataset", "data set"), ColumnSpec("model", "model"))
CONFIGURATION = (
    ColumnSpec("experiment", "experiment", hint="the file of conf/experiment"),
    ColumnSpec(
        "settings", "settings", "long", hint="those that distinguish the groups of a model, and how it was trained"
    ),
)

PAPER = ColumnSpec(
    "paper", "paper", "published", "as printed", spread="paper_std", digits="paper_digits", remark="paper_remark"
)
FURTHER_METRICS = ("macro_f1", "roc_auc", "average_precision")  # that the paper does not report
RESULT_COLUMNS = (
    *DATA_AND_MODEL,
    ColumnSpec("metric", "metric", hint="of ours and the paper's; the micro-F1 of single-label data is their accuracy"),
    ColumnSpec("mean", "ours", "score", "test split", spread="std"),
    PAPER,
    ColumnSpec("difference", "difference", "difference", "ours minus the paper's; coloured beyond both deviations"),
    ColumnSpec("runs", "runs", "count", "finished runs, one per seed"),
    ColumnSpec("epochs", "epochs", "count", "of the longest run"),
    *(ColumnSpec(key, SCORES[key], "score", "test split", spread=f"{key}_std") for key in FURTHER_METRICS),
    ColumnSpec("val_mean", "validation", "score", "ours, on the validation split", spread="val_std"),
    *CONFIGURATION,
    ColumnSpec("source", "source", "text", "of the published number"),
)
RESULTS = TableSpec(
    "results",
    "Test split, mean ± standard deviation (of the population) over seeds, beside the paper's",
    RESULT_COLUMNS,
)
BRIEF = TableSpec(
    "brief",
    "Not comparable with the results above: training.max_epochs ended these runs after fewer than 5 epochs, or fewer "
    "than a tenth of the longest training on the data set",
    RESULT_COLUMNS,
)
COSTS = TableSpec(
    "costs",
    "Cost of a run: means over seeds",
    (
        *DATA_AND_MODEL,
        ColumnSpec("precompute", "precomputation", "seconds", "once, for all runs on these hops", bar=True),
        ColumnSpec("epoch", "per epoch", "seconds", "training without evaluation", bar=True),
        ColumnSpec("epochs", "epochs", "count"),
        ColumnSpec("training", "training", "seconds", "all epochs, without evaluation", bar=True),
        ColumnSpec("inference", "inference", "seconds", "on the test split, from stored hops", bar=True),
        ColumnSpec("memory", "peak memory", "bytes", bar=True),
        ColumnSpec("parameters", "parameters", "count"),
        ColumnSpec("bytes", "hops", "bytes", "arrays that the network reads", bar=True),
        ColumnSpec("products", "products", "count", "sparse products that these runs computed"),
        ColumnSpec("rows_computed", "rows computed", "count"),
        ColumnSpec("rows_saved", "rows saved", "count", "rows of products that were not needed"),
        *CONFIGURATION,
    ),
)
HOPS = TableSpec(
    "hops",
    "Hop arrays in the store: their size and what they cost",
    (
        ColumnSpec("dataset", "data set"),
        ColumnSpec("hop", "hop"),
        ColumnSpec("operator", "operator", "long"),
        ColumnSpec("scope", "scope", hint="the graph it was computed on: train or full"),
        ColumnSpec("rows", "rows", "count"),
        ColumnSpec("columns", "columns", "count"),
        ColumnSpec("bytes", "size", "bytes", bar=True),
        ColumnSpec("seconds", "seconds", "seconds", bar=True),
        ColumnSpec("products", "products", "count"),
        ColumnSpec("computed", "computed", "count", "runs that computed it"),
        ColumnSpec("found", "found", "count", "runs that found it in the store"),
    ),
)
RUNS = TableSpec(
    "runs",
    "Every run",
    (
        *DATA_AND_MODEL,
        CONFIGURATION[0],
        ColumnSpec("job_type", "job_type"),
        ColumnSpec("seed", "seed", "count"),
        ColumnSpec("state", "state"),
        ColumnSpec("metric", "metric"),
        ColumnSpec("test", "test", "score"),
        ColumnSpec("val", "validation", "score"),
        ColumnSpec("train", "training", "score"),
        ColumnSpec("loss", "validation loss", "score"),
        ColumnSpec("epochs", "epochs", "count"),
        ColumnSpec("epoch", "per epoch", "seconds"),
        ColumnSpec("started", "started", "time"),
        ColumnSpec("folder", "folder", "path"),
    ),
)
CHANGES = TableSpec(
    "changes",
    "Settings that differ between runs, with the number of runs per value",
    (ColumnSpec("setting", "setting"), ColumnSpec("values", "values", "counts")),
)
CHOICES = TableSpec(
    "choices",
    "Complete trials of each search by model, operator and power: the best value, and the median of all",
    (
        ColumnSpec("dataset", "data set"),
        ColumnSpec("study", "search"),
        ColumnSpec("metric", "metric"),
        ColumnSpec("setting", "setting"),
        ColumnSpec("value", "value"),
        ColumnSpec("trials", "trials", "count"),
        ColumnSpec("best", "best", "score"),
        ColumnSpec("median", "median", "score"),
    ),
)
PROBLEMS = TableSpec(
    "problems",
    "Folders that are left out or shown in part",
    (ColumnSpec("folder", "folder", "path"), ColumnSpec("reason", "reason", "long")),
)


def cell(row: dict[str, Any], column: ColumnSpec) -> str:
    """A value as text that is safe to show, with its standard deviation where there is one."""
    digits = row.get(column.digits) or 4
    text = visible(_format(row.get(column.key), column.kind, digits))
    spread, remark = row.get(column.spread), row.get(column.remark)
    text += "" if spread is None else f" ± {_format(spread, column.kind, digits)}"
    return f"{text} ({remark})" if remark else text


def _format(value: Any, kind: str, digits: int) -> str:
    if value is None or value == "":
        return MISSING
    if kind == "counts":
        return ", ".join(f"{name} ({count})" for name, count in value.items())
    if isinstance(value, str):
        return value.replace("T", " ")[:16] if kind == "time" else value
    formats = {
        "score": lambda: f"{value:.{digits}f}",
        "published": lambda: f"{value:.{digits}f}",
        "difference": lambda: f"{value:+.4f}".replace("-", "−"),
        "seconds": lambda: seconds(value),
        "bytes": lambda: memory.format_size(value),
        "count": lambda: f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}",
    }
    return formats.get(kind, lambda: str(value))()


def seconds(value: float) -> str:
    """A duration with three digits, in milliseconds, seconds or minutes.

    >>> seconds(0.00123), seconds(0.5), seconds(75), seconds(7500)
    ('1.23 ms', '0.5 s', '75 s', '125 min')
    """
    if value >= 600:
        return f"{value / 60:.0f} min"
    if value >= 0.1:
        return f"{value:.3g} s"
    return f"{value * 1000:.3g} ms"


def markdown(table: TableSpec, rows: Sequence[dict[str, Any]]) -> str:
    """A Markdown table; columns without any value are left out."""
    columns = table.with_values(rows)
    if not columns:
        return "Nothing yet.\n"
    lines = [
        [column.title for column in columns],
        ["---:" if column.kind in NUMERIC else "---" for column in columns],
        *([cell(row, column).translate(ESCAPES) for column in columns] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
