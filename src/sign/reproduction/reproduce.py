"""Train what is missing of the requested tables and figures, one after another in this process."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sign.datasets.base import Dataset
from sign.errors import MissingData, SignError
from sign.experiments.series import train_series
from sign.published import published_tables
from sign.reproduction import figures
from sign.reproduction.experiments import cell_plan
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
        self.results: dict[str, ExperimentResult] = {}
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
            for experiment in table.table.experiments:
                table.results[experiment] = self.train(experiment)
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

    def check(self) -> None:
        """Raise :class:`SignError` if any experiment failed."""
        if self.failed:
            names = ", ".join(self.failed)
            raise SignError(f"{len(self.failed)} experiments failed or have failed runs: {names}; see above")

    def train(self, experiment: str) -> ExperimentResult:
        """Train what is missing of an experiment, once."""
        if experiment not in self.results:
            self.results[experiment] = self._train(experiment)
        return self.results[experiment]

    def _train(self, experiment: str) -> ExperimentResult:
        plan = cell_plan(experiment, self.request)
        dataset, self.tracker = plan.first.dataset, plan.first.tracker
        if plan.missing_seeds() and dataset in self.unavailable:  # downloads are attempted once, not once per cell
            return ExperimentResult(None, self.unavailable[dataset])
        try:
            series = train_series(plan)
        except (SignError, OSError) as error:
            if isinstance(error, MissingData):
                self.unavailable[dataset] = str(error)
            else:
                self.failed.append(experiment)
            log.info("%s: %s", experiment, error)
            return ExperimentResult(None, str(error))
        if not (failures := series.description["failures"]):
            return ExperimentResult(series)
        self.failed.append(experiment)
        reasons = "; ".join(dict.fromkeys(failures.values()))
        runs = series.description["runs"]
        return ExperimentResult(series, f"{len(failures)} of {runs} runs failed: {reasons}")
