"""Tables of results between markers of a Markdown page.

A marker names a table of ``published.yaml``, and may choose columns and rows, separated by semicolons::

    <!-- results baselines columns="Cora; Photo" rows="MLP; SIGN" -->
    …
    <!-- end of results -->
"""

import re
import shlex
from collections.abc import Callable

from results.data import Results
from sign.reproduction.paper_tables import mean_and_std
from sign.reproduction.request import COSTS

BLOCK = re.compile(r"(<!-- results ([^>]*?) -->\n)(.*?)(<!-- end of results -->)", re.DOTALL)


def filled(page: str, render: Callable[..., str]) -> str:
    """Return the page with the text that ``render`` returns for the table, ``columns`` and ``rows`` of each marker."""

    def block(match: re.Match[str]) -> str:
        name, *choices = shlex.split(match[2])
        chosen = {key: _names(names) for key, _, names in (choice.partition("=") for choice in choices)}
        return f"{match[1]}{render(name, **chosen)}{match[4]}"

    return BLOCK.sub(block, page)


def markdown(results: Results, columns: tuple[str, ...] = (), rows: tuple[str, ...] = ()) -> str:
    """Return a Markdown table of some columns and rows, all by default, and a line about the number of runs.

    Rows without a number are left out. Raises :class:`ValueError` for names that the table does not have.
    """
    table = results.table
    columns = columns or table.columns
    if unknown := [*set(columns) - set(table.columns), *set(rows) - set(table.rows)]:
        raise ValueError(f"table={table.name} has no column or row {', '.join(sorted(unknown))}")
    shown = [row for row in results.rows(columns) if not rows or row in rows]
    lines = [f"| | {' | '.join(columns)} |", f"| --- |{' --- |' * len(columns)}"]
    lines += [f"| {row} | {' | '.join(_cell(results, row, column) for column in columns)} |" for row in shown]
    counts = {cell.runs for (row, column), cell in results.cells.items() if row in shown and column in columns}
    most = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    command = "baselines" if table.name in COSTS else table.name
    note = f"Mean ± standard deviation of {most} runs; from `python src/reproduce.py table={command}`."
    return "\n".join([*lines, "", note, ""])


def _cell(results: Results, row: str, column: str) -> str:
    (metric,) = {cell.metric for cell in results.table.row(row) if cell.column == column}
    measured = metric.startswith(("seconds/", "memory/"))
    return mean_and_std(results.number(row, column), results.table.digits, measured) or "—"


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(";"))
