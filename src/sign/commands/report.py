"""Run folders ▶ one HTML page and a Markdown table."""

from pathlib import Path

from omegaconf import DictConfig, ListConfig, OmegaConf
from rich.markup import escape
from rich.table import Table

from sign.errors import SignError
from sign.report import tables
from sign.report.columns import NUMERIC, RESULTS, cell
from sign.report.write import Report
from sign.system.console import console
from sign.validation import check

MAX_ROWS = 20  # of the table on the terminal
COLUMNS = ("dataset", "model", "experiment", "variant", "runs", "mean", "paper", "difference")


def main(cfg: DictConfig) -> None:
    """Read the runs, print a summary, and write ``index.html`` and ``report.md``."""
    OmegaConf.resolve(cfg)
    folders = list(cfg.folders) if isinstance(cfg.folders, ListConfig) else [cfg.folders]
    if not folders or None in folders:
        raise SignError(f"folders={cfg.folders}: give folders that hold runs, such as folders=[outputs]")
    for folder in folders:
        if not Path(str(folder)).is_dir():
            raise SignError(f"folders={folder}: no such folder; python src/train.py writes runs to outputs")
    check("output", cfg.output, str)
    report = Report.read([Path(str(folder)) for folder in folders])
    show(report)
    report.write(Path(cfg.output))


def show(report: Report) -> None:
    """Print a short table of results and the numbers of runs, searches and problems."""
    rows = tables.comparison(report.records)
    columns = [column for column in RESULTS.with_values(rows) if column.key in COLUMNS]
    table = Table(title=RESULTS.caption, title_justify="left")
    for column in columns:
        numeric = column.kind in NUMERIC
        table.add_column(column.title, justify="right" if numeric else "left", no_wrap=numeric)
    for row in rows[:MAX_ROWS]:
        table.add_row(*(escape(cell(row, column)) for column in columns))
    if rows:
        console.print(table)
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
