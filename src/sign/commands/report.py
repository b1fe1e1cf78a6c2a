"""Run folders ▶ one HTML page and a Markdown table."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from omegaconf import DictConfig, ListConfig, OmegaConf
from rich import box
from rich.table import Table
from rich.text import Text

from sign.errors import SignError
from sign.report import tables
from sign.report.columns import CONFIGURATION, MISSING, NUMERIC, RESULTS, ColumnSpec, cell
from sign.report.tables import Row
from sign.report.write import Report
from sign.system.console import console
from sign.system.program import command_line
from sign.validation import check

MAX_ROWS = 20  # of the table on the terminal
COLUMNS = ("dataset", "model", "mean", "paper", "difference", "runs", "epochs")  # by importance
LEAST_COLUMNS = 3
FOLDED = {"dataset": 20, "model": 20, "paper": 15}  # columns that may be folded, to this number of characters


def main(cfg: DictConfig) -> None:
    """Read the runs, print a summary, and write ``index.html`` and ``report.md``."""
    OmegaConf.resolve(cfg)
    folders = list(cfg.folders) if isinstance(cfg.folders, ListConfig) else [cfg.folders]
    if not folders or None in folders:
        raise SignError(f"folders={cfg.folders}: give folders that hold runs, such as folders=[outputs]")
    for folder in folders:
        if not Path(str(folder)).is_dir():
            raise SignError(f"folders={folder}: no such folder; {command_line('train')} writes runs to outputs")
    check("output", cfg.output, str)
    report = Report.read([Path(str(folder)) for folder in folders])
    if report.empty:
        names = ", ".join(map(str, folders))
        raise SignError(f"folders=[{names}]: no runs found; {command_line('train')} creates one")
    show(report)
    report.write(Path(cfg.output))


def show(report: Report) -> None:
    """Print a short table of results and the numbers of runs, searches and problems."""
    rows = tables.comparison(report.records)
    if rows:
        console.print(results_table(rows, console.width))
    if len(rows) > MAX_ROWS:
        console.print(f"and {len(rows) - MAX_ROWS} more groups")
    finished = sum(record.metrics is not None for record in report.records)
    counts = (
        (finished, "finished run", "s"),
        (len(report.studies), "search", "es"),
        (len(report.problems), "unfinished or damaged folder", "s"),
    )
    texts = [f"{count:,} {noun}{'' if count == 1 else plural}" for count, noun, plural in counts if count]
    console.print(", ".join(texts))


def results_table(rows: Sequence[Row], width: int) -> Table:
    """The first results, one section per data set and metric, with as many columns as ``width`` has room for.

    The experiment, and the settings that distinguish a group, stand below its model. Brief runs are a section of
    their own.
    """
    rows = rows[:MAX_ROWS]
    columns = [column for column in RESULTS.with_values(rows) if column.key in COLUMNS]
    while len(columns) > LEAST_COLUMNS and sum(_width(rows, column) + 3 for column in columns) > width:
        columns.remove(max(columns, key=lambda column: COLUMNS.index(column.key)))
    table = Table(title="Test split, mean ± standard deviation over seeds", title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns:
        fixed = column.key not in FOLDED
        table.add_column(
            column.title,
            justify="right" if column.kind in NUMERIC else "left",
            no_wrap=fixed,
            min_width=_width(rows, column),
            max_width=None if fixed or column.key == "model" else FOLDED[column.key],
        )
    before = None
    for row in rows:
        section = row["dataset"], row["metric"], row["brief"]
        if before not in (None, section):
            table.add_section()
        table.add_row(*(_cell(row, column, first=section != before) for column in columns))
        before = section
    return table


def _cell(row: Row, column: ColumnSpec, first: bool = True) -> Text:
    """A cell, with what explains it below; the data set is named in the first row of its section."""
    text, below = cell(row, column), ""
    if column.key == "dataset":
        text, below = (text, row["metric"] + (", brief" if row["brief"] else "")) if first else ("", "")
    elif column.key == "model":
        below = ", ".join(cell(row, part) for part in CONFIGURATION if cell(row, part) != MISSING)
    elif row.get(column.remark):
        text, below = cell(row, replace(column, remark="")), row[column.remark]
    return Text(text).append(f"\n{below}" if below else "", style="dim")


def _width(rows: Sequence[Row], column: ColumnSpec) -> int:
    """Characters that a column needs at least."""
    widest = max(len(line) for row in rows for line in [column.title, *_cell(row, column).plain.splitlines()])
    return min(widest, FOLDED.get(column.key, widest))
