"""Every wanted table and figure, one after another in this process; what is there already costs nothing."""

from sign.console import console
from sign.datasets.dataset import Dataset
from sign.errors import SignError
from sign.published import tables
from sign.reproduction import figures
from sign.reproduction.cells import cell_plan
from sign.reproduction.request import Request
from sign.reproduction.special_cases import reductions
from sign.reproduction.tables import Filled, Outcome, fill
from sign.runs import Series
from sign.series import train_series


class Reproduction:
    """What is asked for, and what came of each experiment, which several tables may share."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.outcomes: dict[str, Outcome] = {}
        self.unavailable: dict[Dataset, str] = {}

    def run(self) -> None:
        """Fill all tables and draw all figures; runs that failed end it with an error, after the rest."""
        for name in self.request.tables:
            if name == "reductions":
                reductions(self.request)
            else:
                filled = Filled(tables()[name], self.request.smoke)
                fill(filled, self.train, self.request.folder).show()
                self._say(f"{name}.md")
        for name in self.request.figures:
            if name == "triangles":
                drawn = figures.triangles(self.request)
            else:
                drawn = figures.convergence(self.request, self.train)
            if drawn:
                self._say(drawn.name)
        failed = [name for name, outcome in self.outcomes.items() if outcome.series and outcome.reason]
        if failed:
            raise SignError(
                f"{len(failed)} experiments have runs that failed: {', '.join(failed)}; see above"
            )

    def train(self, experiment: str) -> Outcome:
        """Train what is missing of an experiment, once."""
        if experiment not in self.outcomes:
            self.outcomes[experiment] = self._train(experiment)
        return self.outcomes[experiment]

    def _train(self, experiment: str) -> Outcome:
        wanted = cell_plan(experiment, self.request)
        dataset = wanted.first.dataset
        if wanted.missing and dataset in self.unavailable:  # asked for once, not by every cell
            return Outcome(None, self.unavailable[dataset])
        try:
            series = train_series(wanted)
        except (SignError, OSError) as error:
            self.unavailable[dataset] = str(error)
            console.print(f"{experiment}: {error}", style="dim", soft_wrap=True)
            return Outcome(None, str(error))
        return Outcome(series, failure(series))

    def _say(self, name: str) -> None:
        console.print(f"written: {self.request.folder / name}", soft_wrap=True)


def failure(series: Series) -> str:
    """What is to be said of a series that lacks runs."""
    failures = series.description["failures"]
    reasons = "; ".join(dict.fromkeys(failures.values()))
    return f"{len(failures)} of {series.description['runs']} runs failed: {reasons}" if failures else ""
