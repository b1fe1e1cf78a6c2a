"""Every wanted table and figure, one after another in this process; what is there already costs nothing."""

from sign.datasets.base import Dataset
from sign.errors import MissingData, SignError
from sign.experiments.series import train_series
from sign.published import published_tables
from sign.reproduction import figures
from sign.reproduction.experiments import cell_plan
from sign.reproduction.request import Request
from sign.reproduction.special_cases import reductions
from sign.reproduction.tables import Filled, Outcome, fill
from sign.runs import Series
from sign.system.console import console
from sign.tracking.base import RunInfo, Tracker
from sign.tracking.wandb import WandB


class Reproduction:
    """What is asked for, and what came of each experiment, which several tables may share."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.outcomes: dict[str, Outcome] = {}
        self.unavailable: dict[Dataset, str] = {}
        self.failed: list[str] = []
        self.tracker: Tracker | None = None

    def run(self) -> None:
        """Fill all tables and draw all figures; what failed ends it with an error, after the rest."""
        for name in self.request.tables:
            if name == "reductions":
                reductions(self.request)
            else:
                filled = Filled(published_tables()[name], self.request.smoke)
                fill(filled, self.train, self.request.folder).show()
                self._say(f"{name}.md")
                self._track(filled)
        for name in self.request.figures:
            if name == "triangles":
                drawn = figures.triangles(self.request)
            else:
                drawn = figures.convergence(self.request, self.train)
            if drawn:
                self._say(drawn.name)
        if self.failed:
            raise SignError(
                f"{len(self.failed)} experiments failed, or have runs that did: {', '.join(self.failed)}; see above"
            )

    def train(self, experiment: str) -> Outcome:
        """Train what is missing of an experiment, once."""
        if experiment not in self.outcomes:
            self.outcomes[experiment] = self._train(experiment)
        return self.outcomes[experiment]

    def _train(self, experiment: str) -> Outcome:
        wanted = cell_plan(experiment, self.request)
        dataset, self.tracker = wanted.first.dataset, wanted.first.tracker
        if wanted.missing and dataset in self.unavailable:  # asked for once, not by every cell
            return Outcome(None, self.unavailable[dataset])
        try:
            series = train_series(wanted)
        except (SignError, OSError) as error:
            if isinstance(error, MissingData):
                self.unavailable[dataset] = str(error)
            else:
                self.failed.append(experiment)
            console.print(f"{experiment}: {error}", style="dim", soft_wrap=True)
            return Outcome(None, str(error))
        if reason := failure(series):
            self.failed.append(experiment)
        return Outcome(series, reason)

    def _track(self, filled: Filled) -> None:
        """The whole table in W&B, beside the runs of its cells."""
        if isinstance(self.tracker, WandB):
            name = filled.table.name
            folder = self.request.folder
            card = RunInfo(f"table {name}", "reproduction", "reproduce", [name], {"table": name}, folder)
            self.tracker.log_tables(card, {name: filled.tracker_table()})

    def _say(self, name: str) -> None:
        console.print(f"written: {self.request.folder / name}", soft_wrap=True)


def failure(series: Series) -> str:
    """What is to be said of a series that lacks runs."""
    failures = series.description["failures"]
    reasons = "; ".join(dict.fromkeys(failures.values()))
    return f"{len(failures)} of {series.description['runs']} runs failed: {reasons}" if failures else ""
