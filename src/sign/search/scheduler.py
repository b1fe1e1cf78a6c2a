"""The search: every slot gets its next trial as soon as its last one ends."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import Trial

from sign.errors import SignError
from sign.runs import Run, find_runs
from sign.search.slots import Outcome, Running, Slot, start
from sign.search.study_db import BEAT, Ledger

POLL = 0.05  # seconds between looks at the processes
LOOK = 1.0  # ... at their progress
AGAIN = 3.0  # ... at a database in which nothing was left to claim


@dataclass
class Progress:
    """A trial that is running here."""

    trial: Trial
    running: Running
    runs: list[Run] = field(default_factory=list)
    reported: int = -1

    def look(self) -> None:
        """Find the runs that its process has begun."""
        self.runs = find_runs([self.running.folder])

    @property
    def epoch(self) -> tuple[int, float] | None:
        """The last epoch of the run it is at, and its validation loss."""
        rows = self.epochs(-1)
        return rows[-1] if rows else None

    def epochs(self, run: int) -> list[tuple[int, float]]:
        """The epochs of one of its runs with their validation losses, as far as they can be read by now."""
        if not self.runs:
            return []
        with suppress(SignError, OSError):  # the file is being written
            return [
                (int(row["epoch"]), row["val/loss"]) for row in self.runs[run].epochs() if "val/loss" in row
            ]
        return []


class Watcher(Protocol):
    """What is told of a search."""

    def moved(self, at_work: Sequence[Progress]) -> None:
        """About once a second."""

    def ended(self, number: int) -> None:
        """A trial was finished."""


@dataclass
class Search:
    """Trials of a study on the slots of this machine, until the study is complete."""

    ledger: Ledger
    slots: Sequence[Slot]
    command: Callable[[Trial, Path], Sequence[str]]
    watcher: Watcher
    max_failures: int = 5
    pruned_run: int | None = None  # index of the run that is reported to the pruner; None: nothing is pruned

    def run(self) -> None:
        """Complete the study."""
        self.at_work: dict[Slot, Progress] = {}
        self.news: list[int] = []
        self.failures = 0
        looked = beaten = asked = 0.0
        try:
            with self.ledger.present():
                while True:
                    now = time.monotonic()
                    freed = self._collect()
                    if now - looked > LOOK:
                        freed |= self._look()
                        looked = now
                    if freed or now - asked > AGAIN:
                        self._fill()  # first: whoever watches can wait, a slot cannot
                        self._announce()
                        asked = now
                        if not self.at_work and self.ledger.complete:
                            return
                    if now - beaten > BEAT:
                        self._beat()
                        beaten = now
                    time.sleep(POLL)
        finally:
            for progress in self.at_work.values():
                progress.running.stop()
                with suppress(Exception):  # where the database is the reason: they are found by their token
                    self.ledger.release(progress.trial)

    def _fill(self) -> None:
        for slot in self.slots:
            if slot not in self.at_work:
                trial = self.ledger.claim(str(slot))
                if trial is None:
                    return
                folder = self.ledger.folder_of(trial.number)
                running = start(slot, len(self.slots), self.command(trial, folder), folder)
                reported = max(self.ledger.trials[trial.number].intermediate_values, default=-1)
                self.at_work[slot] = Progress(trial, running, reported=reported)

    def _beat(self) -> None:
        for slot, progress in list(self.at_work.items()):
            if not self.ledger.beat(progress.trial):  # this machine was taken to be gone: another one has it
                progress.running.stop()
                del self.at_work[slot]

    def _collect(self) -> bool:
        ended = [(p, outcome) for p in self.at_work.values() if (outcome := p.running.outcome())]
        for progress, outcome in ended:
            del self.at_work[progress.running.slot]
            if self.pruned_run is not None:
                progress.look()
                self._should_prune(progress)  # the trials after this one are compared with all of its epochs
            self._tell(progress.trial, outcome)
        return bool(ended)

    def _tell(self, trial: Trial, outcome: Outcome) -> None:
        if outcome.value is not None:
            self.ledger.succeed(trial, outcome.value, seconds=outcome.seconds)
            self.failures = 0
        else:
            self.ledger.fail(trial, outcome.reason or "ended without a result", seconds=outcome.seconds)
            self.failures += 1
        self.news.append(trial.number)
        if self.failures >= self.max_failures:
            self._announce()
            raise SignError(
                f"{self.failures} trials in a row failed, the last because: {outcome.reason}; what they said is in "
                f"{self.ledger.folder_of(trial.number)}; search.max_failures allows more"
            )

    def _announce(self) -> None:
        for number in self.news:
            self.watcher.ended(number)
        self.news.clear()

    def _look(self) -> bool:
        freed = False
        for slot, progress in list(self.at_work.items()):
            progress.look()
            if self._should_prune(progress):
                progress.running.stop()
                del self.at_work[slot]
                self.ledger.prune(progress.trial, seconds=progress.running.seconds)
                self.news.append(progress.trial.number)
                freed = True
        self.watcher.moved(list(self.at_work.values()))
        return freed

    def _should_prune(self, progress: Progress) -> bool:
        if self.pruned_run is None:
            return False
        behind = False
        for epoch, loss in progress.epochs(self.pruned_run):
            if epoch > progress.reported:
                progress.reported = epoch
                with suppress(UpdateFinishedTrialError):  # by who took it over
                    progress.trial.report(loss, epoch)
                    behind = behind or progress.trial.should_prune()
        return behind
