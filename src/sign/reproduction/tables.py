"""A table: its cells trained, ours beside the published numbers, on the terminal and in files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table as Shown

from sign.published import PublishedCell, PublishedTable
from sign.runs import Series
from sign.system.atomic_files import write_json, write_text
from sign.system.console import console
from sign.tracking.run_tables import TrackerTable

LOOK_ALIKE = "Small generated look-alikes, trained for a few epochs: not comparable with the paper."


@dataclass(frozen=True)
class Outcome:
    """What came of an experiment: a series, or the reason why there is none; both where some runs failed."""

    series: Series | None
    reason: str = ""


@dataclass
class Filled:
    """A published table with our cells, as far as there are any."""

    table: PublishedTable
    look_alike: bool = False
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def ours(self, cell: PublishedCell) -> tuple[float, float] | None:
        """Mean and deviation of a cell."""
        outcome = self.outcomes.get(cell.experiment or "")
        return cell.ours(outcome.series.metrics) if outcome and outcome.series else None

    def difference(self, cell: PublishedCell) -> float | None:
        """Ours less the published number; look-alikes have none."""
        ours = self.ours(cell)
        return None if ours is None or cell.mean is None or self.look_alike else ours[0] - cell.mean

    @property
    def reasons(self) -> list[str]:
        """The footnotes: why cells are empty or lack runs, each once."""
        told = (outcome.reason for outcome in self.outcomes.values() if outcome.reason)
        return list(dict.fromkeys(told))

    def mark(self, cell: PublishedCell) -> str:
        """The number of a cell's footnote."""
        outcome = self.outcomes.get(cell.experiment or "")
        return f"[{self.reasons.index(outcome.reason) + 1}]" if outcome and outcome.reason else ""

    def parts(self, cell: PublishedCell) -> tuple[str, str, str]:
        """Ours with its footnote, the published number, the difference; empty where there is none."""
        digits, ours, difference = self.table.digits, self.ours(cell), self.difference(cell)
        own = "" if ours is None else f"{ours[0]:.{digits}f} ± {ours[1]:.{digits}f}"
        if not own and cell.experiment:
            own = "—"
        theirs = "" if cell.mean is None else f"{cell.mean:.{digits}f}"
        if theirs and cell.std is not None:
            theirs += f" ± {cell.std:.{digits}f}"
        return (
            " ".join(part for part in (own, self.mark(cell)) if part),
            theirs,
            "" if difference is None else f"{difference:+.{digits}f}",
        )

    def footnotes(self) -> Iterator[str]:
        """Everything that stands below the table."""
        if self.look_alike:
            yield LOOK_ALIKE
        if self.table.notes:
            yield self.table.notes
        seeds = {len(outcome.series.seeds) for outcome in self.outcomes.values() if outcome.series}
        if seeds:
            runs = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
            yield f"Ours: mean ± standard deviation (of the population) of {runs} runs."
        yield f"In brackets: the published number, and by how much ours is above it ({self.table.source})."
        for number, reason in enumerate(self.reasons, 1):
            yield f"[{number}] {reason}"

    def show(self) -> None:
        """The table on the terminal: ours, below it the published number and the difference."""
        title = f"{'LOOK-ALIKES · ' if self.look_alike else ''}{self.table.title}"
        shown = Shown(title=title, title_justify="left", show_lines=True)
        shown.add_column("")
        for column in self.table.columns:
            shown.add_column(column.strip(), justify="right")
        for row in self.table.rows:
            cells = []
            for own, theirs, difference in map(self.parts, self.table.row(row)):
                lines = [f"[bold]{escape(own)}[/bold]" if own else "", _published(theirs, "")]
                cells.append("\n".join(line for line in (*lines, difference) if line))
            shown.add_row(row, *cells)
        console.print(shown)
        for note in self.footnotes():
            console.print(escape(note), style="dim", soft_wrap=True)

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"## {self.table.title}", ""]
        lines += ["| | " + " | ".join(column.strip() for column in self.table.columns) + " |"]
        lines += ["| --- |" + " --- |" * len(self.table.columns)]
        for row in self.table.rows:
            texts = [_one_line(*self.parts(cell)) for cell in self.table.row(row)]
            lines.append(f"| {row} | " + " | ".join(texts) + " |")
        return "\n".join([*lines, "", *(f"{note}  " for note in self.footnotes()), ""])

    def plain(self) -> dict[str, Any]:
        """The table as plain values."""
        return {
            "table": self.table.name,
            "title": self.table.title,
            "source": self.table.source,
            "look_alike": self.look_alike,
            "cells": [self._plain_cell(cell) for cell in self.table.cells],
        }

    def tracker_table(self) -> TrackerTable:
        """The table as rows of a tracker: a row a cell."""
        columns = ["row", "column", "metric", "ours", "ours ±", "published", "published ±", "difference"]
        rows = []
        for cell in self.table.cells:
            ours = self.ours(cell) or (None, None)
            published = (cell.mean, cell.std)
            rows.append([cell.row, cell.column, cell.metric, *ours, *published, self.difference(cell)])
        return TrackerTable(columns, rows)

    def _plain_cell(self, cell: PublishedCell) -> dict[str, Any]:
        ours, outcome = self.ours(cell), self.outcomes.get(cell.experiment or "")
        series = outcome.series if outcome else None
        return {
            "row": cell.row,
            "column": cell.column.strip(),
            "metric": cell.metric,
            "experiment": cell.experiment,
            "ours": ours and {"mean": ours[0], "std": ours[1], "runs": len(series.seeds) if series else 0},
            "published": None if cell.mean is None else {"mean": cell.mean, "std": cell.std},
            "difference": self.difference(cell),
            "reason": outcome.reason if outcome else "",
            "series": str(series.folder) if series else None,
        }

    def write(self, folder: Path) -> None:
        """``<table>.md`` and ``<table>.json``, each whole or as it was."""
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / f"{self.table.name}.json", self.plain())
        write_text(folder / f"{self.table.name}.md", self.markdown())


def fill(filled: Filled, train: Callable[[str], Outcome], folder: Path) -> Filled:
    """Train what is missing of a table; its files are written again after each series."""
    for experiment in filled.table.experiments:
        filled.outcomes[experiment] = train(experiment)
        filled.write(folder)
    return filled


def _published(theirs: str, difference: str) -> str:
    return f"({', '.join(part for part in (theirs, difference) if part)})" if theirs else ""


def _one_line(own: str, theirs: str, difference: str) -> str:
    return " ".join(part for part in (own, _published(theirs, difference)) if part)
