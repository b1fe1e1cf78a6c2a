"""Read run folders, write the page and the Markdown, and say in the terminal what is in them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from sign.errors import SignError
from sign.report import columns, tables
from sign.report.columns import MISSING, Layout, markdown, write
from sign.report.html import content, html
from sign.report.records import Problem, Record, read
from sign.report.studies import read_studies
from sign.system import memory
from sign.system.atomic_files import write_text
from sign.system.console import console

PAGE, MARKDOWN = "index.html", "report.md"
LINES = 20  # of the table in the terminal
BRIEF = ("dataset", "model", "experiment", "variant", "runs", "mean", "paper", "difference")


def write_report(folders: Sequence[Path], output: Path) -> Path:
    """Write ``index.html`` and ``report.md`` of all runs in or below some folders; returns the page."""
    records, problems = read(folders)
    studies, damaged = read_studies(folders)
    problems += damaged
    if not records and not problems and not studies:
        named = ", ".join(str(folder) for folder in folders)
        raise SignError(f"folders=[{named}]: no runs there; python src/train.py makes one")
    page = html(content(records, problems, studies))
    output.mkdir(parents=True, exist_ok=True)
    write_text(output / MARKDOWN, as_markdown(records, problems))
    write_text(output / PAGE, page)
    _show(records, problems, studies)
    console.print(
        f"page:     {(output / PAGE).resolve()} ({memory.format_size(len(page.encode()))})", soft_wrap=True
    )
    console.print(f"Markdown: {(output / MARKDOWN).resolve()}", soft_wrap=True)
    return output / PAGE


def as_markdown(records: Sequence[Record], problems: Sequence[Problem]) -> str:
    """Results beside the paper's, costs, and what is left out."""
    parts: list[tuple[str, Layout, list[dict[str, Any]]]] = [
        ("Results", columns.RESULTS, tables.comparison(records)),
        ("Costs", columns.COSTS, tables.costs(records)),
    ]
    if problems:
        parts.append(("Left out", columns.PROBLEMS, tables.unreadable(problems)))
    texts = [f"## {title}\n\n{shown.caption}.\n\n{markdown(shown, rows)}" for title, shown, rows in parts]
    return "# SIGN report\n\n" + "\n".join(texts)


def _show(records: Sequence[Record], problems: Sequence[Problem], studies: Sequence[Any]) -> None:
    """A short table, and one line of counts."""
    rows = tables.comparison(records)
    brief = [column for column in columns.RESULTS.columns if column.key in BRIEF]
    shown = [column for column in brief if any(write(row, column) != MISSING for row in rows)]
    table = Table(title=columns.RESULTS.caption, title_justify="left")
    for column in shown:
        justify: Any = "left" if column.kind in ("text", "long") else "right"
        table.add_column(column.title, justify=justify, no_wrap=justify == "right")
    for row in rows[:LINES]:
        table.add_row(*(escape(write(row, column)) for column in shown))
    if rows:
        console.print(table)
    if len(rows) > LINES:
        console.print(f"and {len(rows) - LINES} more groups")
    finished = sum(record.metrics is not None for record in records)
    counts = [
        (finished, "finished run"),
        (len(studies), "search"),
        (len(problems), "unfinished or damaged folder"),
    ]
    console.print(", ".join(_counted(count, word) for count, word in counts if count))


def _counted(count: int, word: str) -> str:
    plural = f"{word}es" if word.endswith("h") else f"{word}s"
    return f"{count:,} {word if count == 1 else plural}"
