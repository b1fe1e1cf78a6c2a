"""Train what is missing of the requested tables and figures, one after another in this process."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sign.datasets.base import Dataset
from sign.errors import MissingData, SignError
from sign.experiments.series import train_series
from sign.published import published_tables
from sign.report.write import Report
from sign.reproduction import figures
from sign.reproduction.experiments import cell_plan
from sign.reproduction.lookalikes import scaled_sizes, shape
from sign.reproduction.paper_tables import ExperimentResult, ReproducedTable
from sign.reproduction.request import Request
from sign.tracking.base import RunInfo, Tracker
from sign.tracking.wandb import WandB

if TYPE_CHECKING:
    from sign.reproduction.special_cases import SpecialCaseTable

log = logging.getLogger(__name__)


class Reproduction:
    """A request, and the results of its experiments, which several tables may share."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.results: dict[tuple[str, ...], ExperimentResult] = {}  # by experiment and changes
        self.unavailable: dict[Dataset, str] = {}
        self.failed: list[str] = []
        self.tracker: Tracker | None = None

    def tables(self) -> "Iterator[ReproducedTable | SpecialCaseTable]":
        """Yield each requested table when its experiments are trained and its files are written."""
        for name in self.request.tables:
            if name == "reductions":
                from sign.reproduction.special_cases import SpecialCaseTable  # imports torch and PyG

                special_cases = SpecialCaseTable.compute(self.request)
                special_cases.write(self.request.folder)
                yield special_cases
                special_cases.check()
                continue
            table = ReproducedTable(published_tables()[name], self.request.smoke)
            train = self.train_or_imitate if name == "timing" else self.train
            for experiment in table.table.experiments:
                table.results[experiment] = train(experiment)
                table.write(self.request.folder)  # after each series, so that an interruption loses nothing
            if isinstance(self.tracker, WandB):  # beside the runs of its cells
                folder = self.request.folder
                info = RunInfo(f"table {name}", "reproduction", "reproduce", [name], {"table": name}, folder)
                self.tracker.log_tables(info, {name: table.tracker_table()})
            yield table

    def figures(self) -> Iterator[Path]:
        """Yield the file of each requested figure for which there are data."""
        for name in self.request.figures:
            triangles = name == "triangles"
            file = figures.triangles(self.request) if triangles else figures.convergence(self.request, self.train)
            if file:
                yield file

    def write_report(self) -> None:
        """Write the report page of the trained series, unless none has a run folder, and log where it is."""
        report = Report.read([result.series.folder for result in self.results.values() if result.series])
        if not report.empty:
            report.write(self.request.folder / "report")

    def check(self) -> None:
        """Raise :class:`SignError` if any experiment failed."""
        if self.failed:
            names = ", ".join(self.failed)
            raise SignError(f"{len(self.failed)} experiments failed or have failed runs: {names}; see above")

    def train(self, experiment: str, *changes: str) -> ExperimentResult:
        """Train what is missing of an experiment, or of one with other settings, once."""
        if (experiment, *changes) not in self.results:
            self.results[experiment, *changes] = self._train(experiment, *changes)
        return self.results[experiment, *changes]

    def train_or_imitate(self, experiment: str) -> ExperimentResult:
        """Train an experiment, on a generated graph of the same shape if its data set is unavailable."""
        result = self.train(experiment)
        if not result.unavailable:
            return result
        scale = self.request.scale
        sizes = scaled_sizes(experiment, scale)
        note = (
            f"{result.reason}; measured on a generated graph of its shape with scale={scale:g}"
            f"{''.join(f', {size}' for size in sizes)}: not comparable with the published number"
        )
        generated = self.train(experiment, *shape(experiment.partition("_")[0], scale), *sizes)
        return replace(generated, reason="; ".join(filter(None, (note, generated.reason))), lookalike=True)

    def _train(self, experiment: str, *changes: str) -> ExperimentResult:
        try:
            plan = cell_plan(experiment, self.request, *changes)
        except MissingData as error:
            log.info("%s: %s", experiment, error)
            return ExperimentResult(None, str(error), unavailable=True)
        dataset, self.tracker = plan.first.dataset, plan.first.tracker
        if plan.missing_seeds() and dataset in self.unavailable:  # downloads are attempted once, not once per cell
            return ExperimentResult(None, self.unavailable[dataset], unavailable=True)
        try:
            series = train_series(plan)
        except (SignError, OSError) as error:
            if isinstance(error, MissingData):
                self.unavailable[dataset] = str(error)
            else:
                self.failed.append(experiment)
            log.info("%s: %s", experiment, error)
            return ExperimentResult(None, str(error), unavailable=isinstance(error, MissingData))
        if not (failures := series.description["failures"]):
            return ExperimentResult(series)
        self.failed.append(experiment)
        reasons = "; ".join(dict.fromkeys(failures.values()))
        runs = series.description["runs"]
        return ExperimentResult(series, f"{len(failures)} of {runs} runs failed: {reasons}")
