"""The search on the terminal: a live table, or a line a trial where there is no terminal."""

import time
from collections.abc import Sequence
from datetime import timedelta

from optuna.trial import FrozenTrial, TrialState
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sign.search.scheduler import Progress
from sign.search.study_db import FINISHED, Ledger
from sign.system.console import console


class View:
    """What is done, running and failed, the best so far, and the time left."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.started, self.before = time.monotonic(), self._finished()

    def __enter__(self) -> "View":
        if console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def moved(self, at_work: Sequence[Progress]) -> None:
        """Draw the table again."""
        if console.is_terminal:
            self.live.update(self.table(at_work), refresh=True)

    def ended(self, number: int) -> None:
        """A line for a trial that ended."""
        trial, best = self.ledger.trials[number], self.ledger.best
        shown = [f"trial {number}:", outcome(trial), f"{trial.user_attrs.get('seconds', 0):.0f} s"]
        shown += [f"on {trial.user_attrs['owner']['device']};", f"{self._finished()} of {self.ledger.total}"]
        shown += [f"(best {best.value:.4f}, trial {best.number})"] if best else []
        console.print(" ".join(shown), soft_wrap=True, markup=False)

    def table(self, at_work: Sequence[Progress]) -> Group:
        """The totals, and one row a running trial."""
        trials, best = self.ledger.trials, self.ledger.best
        failed = sum(trial.state == TrialState.FAIL for trial in trials)
        title = f"{self.ledger.study.study_name}: {self._finished()} of {self.ledger.total} trials done"
        title += f", {len(at_work)} running, {failed} failed"
        title += f", best {best.value:.4f} (trial {best.number})" if best else ""
        title += f", {left} left" if (left := self.time_left()) else ""
        table = Table("trial", "device", "epoch", "val loss", "seconds")
        for progress in sorted(at_work, key=lambda progress: progress.trial.number):
            epoch, loss = (str(e[0] + 1), f"{e[1]:.4f}") if (e := progress.epoch) else ("", "")
            if len(progress.runs) > 1:
                epoch = f"{epoch} of run {len(progress.runs)}"
            slot, seconds = str(progress.running.slot), f"{progress.running.seconds:.0f}"
            table.add_row(str(progress.trial.number), slot, epoch, loss, seconds)
        return Group(Text(title), table)

    def time_left(self) -> str:
        """At the pace of this call."""
        done = self._finished()
        if done == self.before:
            return ""
        pace = (time.monotonic() - self.started) / (done - self.before)
        return str(timedelta(seconds=round(pace * (self.ledger.total - done))))

    def _finished(self) -> int:
        return sum(trial.state in FINISHED for trial in self.ledger.trials)


def outcome(trial: FrozenTrial) -> str:
    """How a trial ended."""
    if trial.state == TrialState.COMPLETE:
        return f"val loss {trial.value:.4f},"
    return f"failed: {trial.user_attrs.get('reason')}," if trial.state == TrialState.FAIL else "pruned,"
