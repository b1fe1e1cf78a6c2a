"""A table of the paper with our numbers beside the published ones, as text, Markdown and JSON."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from sign.published import PublishedCell, PublishedTable
from sign.runs import Series
from sign.system.atomic_files import write_json, write_text
from sign.tracking.run_tables import TrackerTable

LOOKALIKE_NOTE = "Small generated look-alikes, trained for a few epochs: not comparable with the paper."


@dataclass(frozen=True)
class ExperimentResult:
    """The series of an experiment, or the reason why there is none; both if only some of its runs failed.

    ``unavailable``: there is no series because files are missing. ``lookalike``: the series is that of a generated
    graph in place of the data set, as ``reason`` says.
    """

    series: Series | None
    reason: str = ""
    unavailable: bool = False
    lookalike: bool = False


@dataclass
class ReproducedTable:
    """A published table, and the results of its experiments as far as they are trained."""

    table: PublishedTable
    lookalike: bool = False
    results: dict[str, ExperimentResult] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its files."""
        return self.table.name

    @property
    def reasons(self) -> list[str]:
        """Why cells are empty or lack runs, without duplicates."""
        return list(dict.fromkeys(result.reason for result in self.results.values() if result.reason))

    def ours(self, cell: PublishedCell) -> tuple[float, float] | None:
        """Our mean and standard deviation."""
        series = self._result(cell).series
        return cell.ours(series.metrics) if series else None

    def difference(self, cell: PublishedCell) -> float | None:
        """Ours minus the published number; None for look-alikes."""
        ours, generated = self.ours(cell), self.lookalike or self._result(cell).lookalike
        return None if ours is None or cell.mean is None or generated else ours[0] - cell.mean

    def texts(self, cell: PublishedCell) -> tuple[str, str, str]:
        """Ours with its footnote, the published number, and the difference; empty where there is none."""
        digits, difference = self.table.digits, self.difference(cell)
        cost = cell.metric.startswith(("seconds/", "memory/"))
        ours = mean_and_std(self.ours(cell), digits, cost) or ("—" if cell.experiment else "")
        reason = self._result(cell).reason
        footnote = f" [{self.reasons.index(reason) + 1}]" if reason else ""
        published = mean_and_std(None if cell.mean is None else (cell.mean, cell.std), digits)
        return ours + footnote, published, "" if difference is None else f"{difference:+.{digits}f}"

    def footnotes(self) -> Iterator[str]:
        """The lines below the table."""
        if self.lookalike:
            yield LOOKALIKE_NOTE
        if self.table.notes:
            yield self.table.notes
        seeds = {len(result.series.seeds) for result in self.results.values() if result.series}
        if seeds:
            runs = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
            yield f"Ours: mean ± standard deviation (of the population) of {runs} runs."
        if any(cell.mean is not None for cell in self.table.cells):
            yield f"In brackets: the published number, and by how much ours is above it ({self.table.source})."
        for number, reason in enumerate(self.reasons, 1):
            yield f"[{number}] {reason}"

    def rich_table(self) -> Table:
        """The table for the terminal: ours, below it the published number and the difference."""
        title = f"{'LOOK-ALIKES · ' if self.lookalike else ''}{self.table.title}"
        shown = Table(title=title, title_justify="left", show_lines=True)
        shown.add_column("")
        for column in self.table.columns:
            shown.add_column(column, justify="right")
        for row in self.table.rows:
            cells = []
            for ours, published, difference in map(self.texts, self.table.row(row)):
                lines = Text(ours, style="bold"), Text(published and f"({published})"), Text(difference)
                cells.append(Text("\n").join(filter(None, lines)))
            shown.add_row(row, *cells)
        return shown

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"## {self.table.title}", ""]
        lines += ["| | " + " | ".join(self.table.columns) + " |"]
        lines += ["| --- |" + " --- |" * len(self.table.columns)]
        for row in self.table.rows:
            cells = []
            for ours, *others in map(self.texts, self.table.row(row)):
                brackets = ", ".join(filter(None, others))
                cells.append(" ".join(filter(None, (ours, brackets and f"({brackets})"))))
            lines.append(f"| {row} | " + " | ".join(cells) + " |")
        return "\n".join([*lines, "", *(f"{note}  " for note in self.footnotes()), ""])

    def tracker_table(self) -> TrackerTable:
        """The table for a tracker: one row per cell."""
        columns = ["row", "column", "metric", "ours", "ours ±", "published", "published ±", "difference"]
        rows = []
        for cell in self.table.cells:
            ours = self.ours(cell) or (None, None)
            names = (cell.row, cell.column, cell.metric)
            rows.append([*names, *ours, cell.mean, cell.std, self.difference(cell)])
        return TrackerTable(columns, rows)

    def write(self, folder: Path) -> None:
        """Write ``<table>.json`` and ``<table>.md``."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "table": self.name,
            "title": self.table.title,
            "source": self.table.source,
            "look_alike": self.lookalike,
            "cells": [self._json_cell(cell) for cell in self.table.cells],
        }
        write_json(folder / f"{self.name}.json", content)
        write_text(folder / f"{self.name}.md", self.markdown())

    def _json_cell(self, cell: PublishedCell) -> dict[str, Any]:
        ours, result = self.ours(cell), self._result(cell)
        series = result.series
        return {
            "row": cell.row,
            "column": cell.column,
            "metric": cell.metric,
            "experiment": cell.experiment,
            "ours": {"mean": ours[0], "std": ours[1], "runs": len(series.seeds)} if ours and series else None,
            "published": None if cell.mean is None else {"mean": cell.mean, "std": cell.std},
            "difference": self.difference(cell),
            "reason": result.reason,
            "look_alike": self.lookalike or result.lookalike,
            "series": str(series.folder) if series else None,
        }

    def _result(self, cell: PublishedCell) -> ExperimentResult:
        return self.results.get(cell.experiment or "", ExperimentResult(None))


def mean_and_std(values: tuple[float, float | None] | None, digits: int, measured: bool = False) -> str:
    """Mean and deviation; what is measured has three significant digits at least."""
    if values is None:
        return ""
    mean, std = values
    if measured and mean > 0:
        digits = max(digits, 2 - math.floor(math.log10(mean)))
    return f"{mean:.{digits}f}" if std is None else f"{mean:.{digits}f} ± {std:.{digits}f}"
