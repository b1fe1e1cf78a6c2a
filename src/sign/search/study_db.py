"""The study in its database: who runs which trial, how each one ended, and which is next.

Several searches, on several machines, can share a study. A trial is claimed by one of them at a time; one whose
owner is gone is taken over under its number and with its values, so an interruption neither loses nor adds a trial.
"""

import json
import shutil
import socket
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, Trial, TrialState

from sign.errors import SignError
from sign.search.db_lock import Turn
from sign.system.locks import exclusive_lock, try_lock

BEAT = 15  # seconds between signs of life of a running trial
GRACE = 120  # seconds without one after which another machine is taken to be gone
ATTEMPTS = 5  # times that a search was killed at one trial before it is taken to be the cause
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
        sampler: Callable[[int], BaseSampler] | None = None,
    ) -> None:
        """``sampler`` makes the sampler of a trial from its number, so that no two trials draw the same values."""
        self.folder, self.space, self.total, self.queue = folder, dict(space), total, queue or []
        self.sampler = sampler
        folder.mkdir(parents=True, exist_ok=True)
        self.turn = Turn(storage or f"sqlite:///{(folder / 'study.db').resolve()}", name)
        self.token = folder / ".searches" / uuid.uuid4().hex
        self.owner = {"host": socket.gethostname(), "lock": str(self.token.resolve())}
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with self.turn.failures_told(), self.turn.taken(), warnings.catch_warnings():
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
        with exclusive_lock(self.token):
            yield
        if self.complete:  # until then, a token that nobody holds says that its owner is gone
            shutil.rmtree(self.token.parent, ignore_errors=True)

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
            attempts = trial.user_attrs.get("owner", {}).get("attempts", 0) + 1
            trial.set_user_attr("owner", {**self.owner, "device": device, "attempts": attempts})
            return trial

    def release(self, trial: Trial) -> None:
        """Leave a trial to whoever goes on with the study; to be interrupted in good order is not held against it."""
        if self._is_ours(trial):
            owner = trial.user_attrs["owner"]
            trial.set_user_attr("owner", {**owner, "host": None, "attempts": owner["attempts"] - 1})

    def _new(self) -> Trial | None:
        trials = self.trials
        if not any(trial.state == TrialState.WAITING for trial in trials):
            if len(trials) >= self.total:
                return None
            if len(trials) < len(self.queue):
                self.study.enqueue_trial(self.queue[len(trials)])
        if self.sampler:
            self.study.sampler = self.sampler(len(trials))
        return self.study.ask()

    def _abandoned(self) -> Trial | None:
        running = [trial for trial in self.trials if trial.state == TrialState.RUNNING]
        stale = self.storage._get_stale_trial_ids(self.study._study_id) if running else []
        for trial in running:
            if self._is_gone(trial.user_attrs.get("owner"), trial._trial_id in stale):
                if trial.user_attrs.get("owner", {}).get("attempts", 0) < ATTEMPTS:
                    return Trial(self.study, trial._trial_id)
                self.fail(Trial(self.study, trial._trial_id), f"interrupted {ATTEMPTS} times")
        return None

    def _is_gone(self, owner: Any, stale: bool) -> bool:
        if owner is None:  # between its making and its claim, which another search could not have seen
            return True
        if owner["host"] is None:  # it was released
            return True
        if owner["host"] != self.owner["host"]:
            return stale
        try:
            with try_lock(Path(owner["lock"])) as free:
                return free
        except OSError:  # no such token here: another machine or container of the same name
            return stale

    def beat(self, trial: Trial) -> bool:
        """Say that a trial is still running, if it is still ours."""
        if ours := self._is_ours(trial):
            self.storage.record_heartbeat(trial._trial_id)
        return ours

    def _is_ours(self, trial: Trial) -> bool:
        """Whether it runs here, and no other search has taken it over."""
        now = self.trials[trial.number]
        return now.state == TrialState.RUNNING and bool(now.user_attrs["owner"]["lock"] == self.owner["lock"])

    def succeed(self, trial: Trial, value: float, **known: Any) -> None:
        """Write down a result."""
        self._end(trial, TrialState.COMPLETE, known, value)

    def fail(self, trial: Trial, reason: str, **known: Any) -> None:
        """Write down why there is none."""
        self._end(trial, TrialState.FAIL, {**known, "reason": reason})

    def prune(self, trial: Trial, **known: Any) -> None:
        """Write down that it was stopped early."""
        self._end(trial, TrialState.PRUNED, known)

    def _end(
        self, trial: Trial, state: TrialState, known: Mapping[str, Any], value: float | None = None
    ) -> None:
        with suppress(UpdateFinishedTrialError):  # whoever took it over was faster: the first result stays
            for name, what in known.items():
                trial.set_user_attr(name, what)
            self.study.tell(trial, value, state=state, skip_if_finished=True)
