"""The study in its database: which search runs which trial, how trials ended, and which comes next.

Several searches, on several machines, may share a study. One search at a time owns a trial. A trial whose owner
died is resumed by another search with the same number and values, so an interruption neither loses nor adds trials.
"""

import json
import shutil
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, Trial, TrialState

from sign.errors import SignError
from sign.search.db_lock import DBLock
from sign.search.space import suggest
from sign.system.locks import exclusive_lock, try_lock
from sign.training.settings import is_minimised

HEARTBEAT_SECONDS = 15  # between heartbeats of a running trial
GRACE_SECONDS = 120  # without a heartbeat, after which the owner on another machine counts as dead
MAX_ATTEMPTS = 5  # searches killed while running a trial, after which the trial counts as failed

# User attributes of a trial. OWNER is written last: a running trial that has none was never handed out.
OWNER, HEARTBEAT = "owner", "heartbeat"


class StudyDB:
    """A study with a fixed total of trials.

    Parameters
    ----------
    folder
        Holds ``study.db`` unless ``storage`` names another database, and one folder per trial.
    queue
        Values of the first trials.
    sampler
        Makes the sampler of a trial from its number; None uses Optuna's default.
    metric
        What trials are compared by; the loss is minimised, any other metric maximised.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        distributions: Mapping[str, BaseDistribution],
        total: int,
        storage: str | None = None,
        queue: Sequence[Mapping[str, Any]] = (),
        pruner: optuna.pruners.BasePruner | None = None,
        sampler: Callable[[int], BaseSampler] | None = None,
        metric: str = "val/loss",
    ) -> None:
        self.folder, self.name, self.distributions, self.total = folder, name, dict(distributions), total
        self.queue, self.sampler, self.metric = queue, sampler, metric
        self.direction = "minimize" if is_minimised(metric) else "maximize"
        folder.mkdir(parents=True, exist_ok=True)
        self.lock = DBLock(storage or f"sqlite:///{(folder / 'study.db').resolve()}", name)
        self.alive_lock = folder / ".searches" / uuid.uuid4().hex
        self.owner = {"host": socket.gethostname(), "lock": str(self.alive_lock.resolve())}
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with self.lock.errors_explained(), self.lock.hold():
            url = self.lock.url.render_as_string(hide_password=False)
            self.storage = optuna.storages.RDBStorage(url, engine_kwargs={"pool_pre_ping": True})
            pruner = pruner or optuna.pruners.NopPruner()  # the default of Optuna would prune
            self.study = optuna.create_study(
                study_name=name, storage=self.storage, pruner=pruner, direction=self.direction, load_if_exists=True
            )

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Hold a lock that marks this search as alive for others on the same host."""
        with exclusive_lock(self.alive_lock):
            yield
        if self.is_complete():  # until then, an unheld lock file marks its owner as dead
            shutil.rmtree(self.alive_lock.parent, ignore_errors=True)

    def check_identity(self, identity: Mapping[str, Any]) -> None:
        """Record the settings that make trials comparable; raise if the study was started with other ones."""
        now = json.loads(json.dumps(identity))
        with self.lock.hold():
            then = self.study.user_attrs.get("settings")
            if then is None:
                self.study.set_user_attr("settings", now)
                return
        for name in sorted({*then, *now}):
            if then.get(name) != now.get(name):
                raise SignError(
                    f"{name}={now.get(name)}: the study {self.name} was started with {then.get(name)}; "
                    "keep that value, or start another study with search.study=<name>"
                )

    def trial_folder(self, number: int) -> Path:
        """Return the folder of a trial, the same for every search that runs it."""
        return self.folder / f"trial-{number:04d}"

    def read_trials(self) -> list[FrozenTrial]:
        """Read all trials, ordered by number."""
        return list(self.study.get_trials(deepcopy=False))

    def count_finished(self) -> int:
        """Count the trials that are complete, failed or pruned."""
        return sum(trial.state.is_finished() for trial in self.read_trials())

    def is_complete(self) -> bool:
        """Return whether the total of trials is finished."""
        return self.count_finished() >= self.total

    def best_trial(self) -> FrozenTrial | None:
        """Return the trial with the best value, the first of equal ones."""
        complete = [trial for trial in self.read_trials() if trial.state == TrialState.COMPLETE]
        lower = 1 if self.direction == "minimize" else -1
        return min(complete, key=lambda trial: (lower * (trial.value or 0.0), trial.number), default=None)

    def next_trial(self, device: str) -> Trial | None:
        """Take over a trial whose owner died, or start a new one; None if no trial is left to start."""
        with self.lock.hold():
            trial = self._orphaned_trial() or self._new_trial()
            if trial is None:
                return None
            suggest(trial, self.distributions)
            attempts = trial.user_attrs.get(OWNER, {}).get("attempts", 0) + 1
            trial.set_user_attr(HEARTBEAT, self.lock.time())
            trial.set_user_attr(OWNER, {**self.owner, "device": device, "attempts": attempts})
            return trial

    def release(self, trial: Trial) -> None:
        """Release a trial so that another search can resume it; a clean interruption is not a failed attempt."""
        if self._owns(trial):
            owner = trial.user_attrs[OWNER]
            trial.set_user_attr(OWNER, {**owner, "host": None, "attempts": owner["attempts"] - 1})

    def heartbeat(self, trial: Trial) -> bool:
        """Record that a trial is alive; return False if another search has taken it over."""
        with suppress(UpdateFinishedTrialError):
            if self._owns(trial):
                trial.set_user_attr(HEARTBEAT, self.lock.time())
                return True
        return False

    def finish(self, trial: Trial, state: TrialState, value: float | None = None, **attributes: Any) -> None:
        """Finish a trial: complete, with its value, or failed or pruned; its attributes are recorded."""
        with suppress(UpdateFinishedTrialError):  # another search took it over and finished it: its result stays
            for name, attribute in attributes.items():
                trial.set_user_attr(name, attribute)
            self.study.tell(trial, value, state=state, skip_if_finished=True)

    def _new_trial(self) -> Trial | None:
        trials = self.read_trials()
        if not any(trial.state == TrialState.WAITING for trial in trials):
            if len(trials) >= self.total:
                return None
            queued = len(trials) < len(self.queue)
            self.study.enqueue_trial(dict(self.queue[len(trials)]) if queued else self._draw(trials))
        return self.study.ask()

    def _draw(self, trials: Sequence[FrozenTrial]) -> dict[str, Any]:
        """Draw the values of the next trial in memory: the database then has all of them or none, also after a kill."""
        sampler = self.sampler(len(trials)) if self.sampler else None
        copy = optuna.create_study(direction=self.direction, sampler=sampler)
        copy.add_trials(trials)
        return dict(copy.ask(self.distributions).params)

    def _orphaned_trial(self) -> Trial | None:
        running = [trial for trial in self.read_trials() if trial.state == TrialState.RUNNING]
        now = self.lock.time() if running else 0.0
        for frozen in running:
            stale = now - frozen.user_attrs.get(HEARTBEAT, now) > GRACE_SECONDS
            if self._is_dead(frozen.user_attrs.get(OWNER), stale):
                study = self.storage.get_study_id_from_name(self.name)
                identifier = self.storage.get_trial_id_from_study_id_trial_number(study, frozen.number)
                trial = Trial(self.study, identifier)
                if frozen.user_attrs.get(OWNER, {}).get("attempts", 0) < MAX_ATTEMPTS:
                    return trial
                self.finish(trial, TrialState.FAIL, reason=f"interrupted {MAX_ATTEMPTS} times")
        return None

    def _is_dead(self, owner: Mapping[str, Any] | None, stale: bool) -> bool:
        if owner is None or owner["host"] is None:  # killed before it was handed out, or released
            return True
        if owner["host"] != self.owner["host"]:
            return stale
        try:
            with try_lock(Path(owner["lock"])) as free:
                return free
        except OSError:  # no such lock file: another machine or container with the same host name
            return stale

    def _owns(self, trial: Trial) -> bool:
        """Return whether a trial is running and no other search has taken it over."""
        now = self.read_trials()[trial.number]
        return now.state == TrialState.RUNNING and bool(now.user_attrs[OWNER]["lock"] == self.owner["lock"])
