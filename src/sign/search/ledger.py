"""The study in its database: who runs which trial, how each one ended, and which is next.

Several searches, on several machines, can share a study. A trial is claimed by one of them at a time; one whose
owner is gone is taken over under its number and with its values, so an interruption neither loses nor adds a trial.
"""

import json
import shutil
import socket
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, Trial, TrialState

from sign.errors import SignError
from sign.locks import locked, locked_if_free
from sign.search.turn import Turn

BEAT = 15  # seconds between signs of life of a running trial
GRACE = 120  # seconds without one after which another machine is taken to be gone
ATTEMPTS = 5  # interruptions of one trial before it is taken to be their cause
FINISHED = (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)


class Ledger:
    """A study, the total of its trials, and the points that come first."""

    def __init__(
        self,
        folder: Path,
        name: str,
        space: Mapping[str, BaseDistribution],
        total: int,
        storage: str | None = None,
        queue: list[dict[str, Any]] | None = None,
        pruner: Any = None,
    ) -> None:
        self.folder, self.space, self.total, self.queue = folder, dict(space), total, queue or []
        folder.mkdir(parents=True, exist_ok=True)
        self.turn = Turn(storage or f"sqlite:///{(folder / 'study.db').resolve()}", name)
        self.token = folder / ".searches" / uuid.uuid4().hex
        self.owner = {"host": socket.gethostname(), "lock": str(self.token.resolve())}
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with self.turn.taken(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # heartbeats are called experimental
            self.storage = optuna.storages.RDBStorage(
                self.turn.url.render_as_string(hide_password=False),
                engine_kwargs={"pool_pre_ping": True},
                heartbeat_interval=BEAT,
                grace_period=GRACE,
            )
            self.study = optuna.create_study(
                study_name=name,
                storage=self.storage,
                direction="minimize",
                pruner=pruner or optuna.pruners.NopPruner(),
                load_if_exists=True,
            )

    @contextmanager
    def present(self) -> Iterator[None]:
        """Be alive in the eyes of the other searches of this machine."""
        try:
            with locked(self.token):
                yield
        finally:
            shutil.rmtree(self.token, ignore_errors=True)

    def agree(self, settings: Mapping[str, Any]) -> None:
        """Write down what the study is about; refuse to go on with something else under its name."""
        now = json.loads(json.dumps(settings))
        with self.turn.taken():
            then = self.study.user_attrs.get("settings")
            if then is None:
                self.study.set_user_attr("settings", now)
                return
        for name in sorted({*then, *now}):
            if then.get(name) != now.get(name):
                raise SignError(
                    f"{name}={now.get(name)}: the study {self.study.study_name} was begun with "
                    f"{then.get(name)}; leave it so, or begin another with search.study=<name>"
                )

    def folder_of(self, number: int) -> Path:
        """Each trial has one of its own, whichever search runs it."""
        return self.folder / f"trial-{number:04d}"

    @property
    def trials(self) -> list[FrozenTrial]:
        """All trials, by number."""
        return list(self.study.get_trials(deepcopy=False))

    @property
    def complete(self) -> bool:
        """Whether as many trials as were asked for are finished."""
        return sum(trial.state in FINISHED for trial in self.trials) >= self.total

    @property
    def best(self) -> FrozenTrial | None:
        """The trial with the lowest validation loss."""
        done = [trial for trial in self.trials if trial.state == TrialState.COMPLETE]
        return min(done, key=lambda trial: (trial.value, trial.number)) if done else None

    def claim(self, device: str) -> Trial | None:
        """The next trial to run: one whose owner is gone, or a new one; None if all are claimed."""
        with self.turn.taken(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Optuna does not expect heartbeats with ask and tell
            trial = self._abandoned() or self._new()
            if trial is None:
                return None
            for name, distribution in self.space.items():
                trial._suggest(name, distribution)
            self.storage.record_heartbeat(trial._trial_id)  # before it has an owner, who could be lost
            attempt = trial.user_attrs.get("owner", {}).get("attempt", 0) + 1
            trial.set_user_attr("owner", {**self.owner, "device": device, "attempt": attempt})
            return trial

    def _new(self) -> Trial | None:
        trials = self.trials
        if not any(trial.state == TrialState.WAITING for trial in trials):
            if len(trials) >= self.total:
                return None
            if len(trials) < len(self.queue):
                self.study.enqueue_trial(self.queue[len(trials)])
        return self.study.ask()

    def _abandoned(self) -> Trial | None:
        running = [trial for trial in self.trials if trial.state == TrialState.RUNNING]
        stale = self.storage._get_stale_trial_ids(self.study._study_id) if running else []
        for trial in running:
            if self._is_gone(trial.user_attrs.get("owner"), trial._trial_id in stale):
                if trial.user_attrs.get("owner", {}).get("attempt", 0) < ATTEMPTS:
                    return Trial(self.study, trial._trial_id)
                self.fail(Trial(self.study, trial._trial_id), f"interrupted {ATTEMPTS} times")
        return None

    def _is_gone(self, owner: Any, stale: bool) -> bool:
        if owner is None:  # between its making and its claim, which another search could not have seen
            return True
        if owner["host"] != self.owner["host"]:
            return stale
        try:
            with locked_if_free(Path(owner["lock"])) as free:
                return free
        except OSError:  # it took its lock with it
            return True

    def beat(self, trials: list[Trial]) -> None:
        """Say that trials are still running."""
        for trial in trials:
            self.storage.record_heartbeat(trial._trial_id)

    def succeed(self, trial: Trial, value: float) -> None:
        """Write down a result."""
        self.study.tell(trial, value, skip_if_finished=True)

    def fail(self, trial: Trial, reason: str) -> None:
        """Write down why there is none."""
        trial.set_user_attr("reason", reason)
        self.study.tell(trial, state=TrialState.FAIL, skip_if_finished=True)

    def prune(self, trial: Trial) -> None:
        """Write down that it was stopped early."""
        self.study.tell(trial, state=TrialState.PRUNED, skip_if_finished=True)
