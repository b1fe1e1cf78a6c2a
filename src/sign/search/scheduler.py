"""Run the trials of a study: a slot receives its next trial as soon as its previous one has ended."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import Trial, TrialState

from sign.errors import SignError
from sign.runs import Run, find_runs
from sign.search.slots import Outcome, Slot, SlotPool, Worker
from sign.search.study_db import HEARTBEAT_SECONDS, StudyDB

UPDATE_SECONDS = 1.0  # between looks at the progress of the running trials
RETRY_SECONDS = 3.0  # before a database that had no trial to start is asked again


@dataclass
class RunningTrial:
    """A trial that runs on this machine."""

    trial: Trial
    worker: Worker
    reported: int = -1  # the last epoch that the pruner knows
    runs: list[Run] = field(default_factory=list)  # that the worker has started

    def read_epochs(self, metric: str, run: int = -1) -> list[tuple[int, float]]:
        """Return the epochs of a run, the current one by default, with their values of a metric, as far as written."""
        with suppress(IndexError, SignError, OSError):  # no run has started, or the file is being written
            rows = self.runs[run].epochs()
            return [(int(row["epoch"]), row[metric]) for row in rows if metric in row]
        return []


class Observer(Protocol):
    """Receives the events of a search."""

    def update(self, running: Sequence[RunningTrial]) -> None:
        """Show the running trials; called about once per second."""

    def trial_ended(self, number: int) -> None:
        """Show a finished trial."""


@dataclass
class Scheduler:
    """Runs trials on the slots of a pool until the study is complete.

    ``command`` returns the command of a trial, which runs in the given folder. ``pruned_run`` is the index of the run
    whose values of the metric are reported to the pruner; None disables pruning.
    """

    db: StudyDB
    pool: SlotPool
    command: Callable[[Trial, Path], Sequence[str]]
    observer: Observer
    max_failures: int = 5
    pruned_run: int | None = None

    def run(self) -> None:
        """Complete the study."""
        self.running: dict[Slot, RunningTrial] = {}
        self.ended: list[int] = []
        self.failures = 0
        try:
            with self.db.alive(), self.pool:
                self._loop()
        finally:
            for running in self.running.values():
                with suppress(Exception):  # if the database has failed, others find the trial by the lock file
                    self.db.release(running.trial)

    def _loop(self) -> None:
        updated = beaten = asked = 0.0
        while True:
            now = time.monotonic()
            freed = self._collect()
            if now - updated > UPDATE_SECONDS:
                freed |= self._update()
                updated = now
            if freed or now - asked > RETRY_SECONDS:
                self._start_trials()  # before the observer is called: slots must not wait for it
                self._announce()
                asked = now
                if not self.running and self.db.is_complete():
                    return
            if now - beaten > HEARTBEAT_SECONDS:
                self._send_heartbeats()
                beaten = now

    def _start_trials(self) -> None:
        for slot in self.pool.free_slots:
            trial = self.db.next_trial(str(slot))
            if trial is None:
                return
            folder = self.db.trial_folder(trial.number)
            worker = self.pool.start(slot, self.command(trial, folder), folder)
            reported = max(self.db.read_trials()[trial.number].intermediate_values, default=-1)
            self.running[slot] = RunningTrial(trial, worker, reported)

    def _send_heartbeats(self) -> None:
        for slot, running in list(self.running.items()):
            if not self.db.heartbeat(running.trial):  # another machine has taken it over
                self.pool.kill(slot)
                del self.running[slot]

    def _collect(self) -> bool:
        """Record the outcomes of workers that have exited; return whether there were any."""
        exited = self.pool.wait()
        for worker, outcome in exited:
            running = self.running.pop(worker.slot)
            self._read_progress(running)  # later trials are compared with all epochs of this one
            self._record(running.trial, outcome)
        return bool(exited)

    def _record(self, trial: Trial, outcome: Outcome) -> None:
        if outcome.disk_full:  # every other trial would fail, too
            self.db.release(trial)
            raise SignError(f"trial {trial.number}: {outcome.reason}; run the same command again to resume")
        self.ended.append(trial.number)
        if outcome.value is not None:
            self.db.finish(trial, TrialState.COMPLETE, outcome.value, seconds=outcome.seconds)
            self.failures = 0
            return
        reason = outcome.reason or "exited without a result"
        self.db.finish(trial, TrialState.FAIL, seconds=outcome.seconds, reason=reason)
        self.failures += 1
        if self.failures >= self.max_failures:
            self._announce()
            raise SignError(
                f"{self.failures} consecutive trials failed, the last one with: {outcome.reason}; see the output in "
                f"{self.db.trial_folder(trial.number)}; search.max_failures allows more"
            )

    def _announce(self) -> None:
        for number in self.ended:
            self.observer.trial_ended(number)
        self.ended.clear()

    def _update(self) -> bool:
        """Read the progress of the running trials; return whether one was pruned."""
        pruned = False
        for slot, running in list(self.running.items()):
            if self._read_progress(running):
                self.pool.kill(slot)
                del self.running[slot]
                self.db.finish(running.trial, TrialState.PRUNED, seconds=running.worker.seconds)
                self.ended.append(running.trial.number)
                pruned = True
        self.observer.update(list(self.running.values()))
        return pruned

    def _read_progress(self, running: RunningTrial) -> bool:
        """Find the runs of a trial and report their new epochs to the pruner; return whether to prune it."""
        running.runs = find_runs([running.worker.folder])
        if self.pruned_run is None:
            return False
        prune = False
        for epoch, value in running.read_epochs(self.db.metric, self.pruned_run):
            if epoch > running.reported:
                running.reported = epoch
                with suppress(UpdateFinishedTrialError):  # finished by the search that took it over
                    running.trial.report(value, epoch)
                    prune = prune or running.trial.should_prune()
        return prune
