"""Progress of a search on the terminal: a live table, and one log line per finished trial."""

import logging
import time
from collections.abc import Sequence
from datetime import timedelta

from optuna.trial import TrialState
from rich.console import Group
from rich.live import Live
from rich.table import Table

from sign.search.results import write_study
from sign.search.scheduler import RunningTrial
from sign.search.study_db import OWNER, StudyDB
from sign.system.console import console

log = logging.getLogger(__name__)


class ProgressView:
    """Shows how many trials are finished, running and failed, the best one, and the remaining time."""

    def __init__(self, db: StudyDB) -> None:
        self.db = db
        self.live = Live(console=console, auto_refresh=False, transient=True)
        self.started, self.finished_before = time.monotonic(), db.count_finished()

    def __enter__(self) -> "ProgressView":
        if console.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    def update(self, running: Sequence[RunningTrial]) -> None:
        """Draw the table."""
        if console.is_terminal:
            self.live.update(self.table(running), refresh=True)

    def trial_ended(self, number: int) -> None:
        """Log one line, and update ``study.json``."""
        trial, best = self.db.read_trials()[number], self.db.best_trial()
        device, seconds = trial.user_attrs[OWNER]["device"], trial.user_attrs.get("seconds", 0)
        finished = f"{self.db.count_finished()} of {self.db.total}"
        finished += f" (best {best.value:.4f}, trial {best.number})" if best else ""
        outcome = f"failed: {trial.user_attrs.get('reason')}" if trial.state == TrialState.FAIL else "pruned"
        if trial.state == TrialState.COMPLETE:
            outcome = f"{self.db.metric} {trial.value:.4f}"
        log.info("trial %d: %s, %.0f s on %s; %s", number, outcome, seconds, device, finished)
        with self.db.lock.hold():
            write_study(self.db)

    def table(self, running: Sequence[RunningTrial]) -> Group:
        """Return the totals, and a table with one row per running trial."""
        best, finished = self.db.best_trial(), self.db.count_finished()
        failed = sum(trial.state == TrialState.FAIL for trial in self.db.read_trials())
        title = f"{self.db.name}: {finished} of {self.db.total} trials done"
        title += f", {len(running)} running, {failed} failed"
        title += f", best {best.value:.4f} (trial {best.number})" if best else ""
        if finished > self.finished_before:  # extrapolate the pace since the start of this search
            pace = (time.monotonic() - self.started) / (finished - self.finished_before)
            title += f", {timedelta(seconds=round(pace * (self.db.total - finished)))} left"
        table = Table("trial", "device", "epoch", self.db.metric, "seconds")
        for row in sorted(running, key=lambda row: row.trial.number):
            epochs = row.read_epochs(self.db.metric)
            epoch, value = (f"{epochs[-1][0] + 1}", f"{epochs[-1][1]:.4f}") if epochs else ("", "")
            if len(row.runs) > 1:
                epoch = f"{epoch} of run {len(row.runs)}"
            slot, seconds = str(row.worker.slot), f"{row.worker.seconds:.0f}"
            table.add_row(str(row.trial.number), slot, epoch, value, seconds)
        return Group(title, table)
