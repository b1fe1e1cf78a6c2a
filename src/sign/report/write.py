"""Run folders ▶ ``index.html`` and ``report.md``."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.report import columns, tables
from sign.report.columns import markdown
from sign.report.html import page_data, render
from sign.report.run_records import FolderProblem, RunRecord, read_runs
from sign.report.studies import choices, read_studies
from sign.system import memory
from sign.system.atomic_files import write_text

log = logging.getLogger(__name__)
PAGE, MARKDOWN = "index.html", "report.md"


@dataclass(frozen=True)
class Report:
    """Runs and studies below some folders, and the folders that are left out or shown in part."""

    records: list[RunRecord]
    problems: list[FolderProblem]
    studies: list[dict[str, Any]]

    @classmethod
    def read(cls, folders: Sequence[Path]) -> "Report":
        """Read all runs and studies in or below ``folders``."""
        records, problems = read_runs(folders)
        studies, damaged_studies = read_studies(folders)
        return cls(records, problems + damaged_studies, studies)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show, not even a problem."""
        return not (self.records or self.problems or self.studies)

    def write(self, output: Path) -> Path:
        """Write the page and the Markdown file into ``output``; returns the page."""
        page = render(page_data(self.records, self.problems, self.studies))
        output.mkdir(parents=True, exist_ok=True)
        write_text(output / MARKDOWN, self.markdown())
        write_text(output / PAGE, page)
        log.info("page:     %s (%s)", (output / PAGE).resolve(), memory.format_size(len(page.encode())))
        log.info("Markdown: %s", (output / MARKDOWN).resolve())
        return output / PAGE

    def markdown(self) -> str:
        """Results beside the paper's, brief runs apart from them, costs, and the folders that are left out."""
        results = tables.comparison(self.records)
        parts = [("Results", columns.RESULTS, [row for row in results if not row["brief"]])]
        if brief := [row for row in results if row["brief"]]:
            parts.append(("Brief runs", columns.BRIEF, brief))
        parts.append(("Costs", columns.COSTS, tables.costs(self.records)))
        if compared := choices(self.studies):
            parts.append(("Searched models and operators", columns.CHOICES, compared))
        if self.problems:
            parts.append(("Left out", columns.PROBLEMS, tables.problems(self.problems)))
        texts = [f"## {title}\n\n{table.caption}.\n\n{markdown(table, rows)}" for title, table, rows in parts]
        return "# SIGN report\n\n" + "\n".join(texts)
