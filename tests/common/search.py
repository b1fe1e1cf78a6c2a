"""Searches whose trials are ``trial.py``."""

from collections.abc import Callable, Sequence
from pathlib import Path

from optuna.distributions import FloatDistribution
from optuna.trial import Trial

from sign.search.scheduler import RunningTrial, Scheduler
from sign.search.slots import Slot, SlotPool
from sign.search.study_db import StudyDB

TRIAL = Path(__file__).with_name("trial.py")
SPACE = {"x": FloatDistribution(0.0, 1.0)}


class Silent:
    """An observer that shows nothing."""

    def update(self, running: Sequence[RunningTrial]) -> None: ...

    def trial_ended(self, number: int) -> None: ...


def command(arguments: Callable[[int], list[str]]) -> Callable[[Trial, Path], list[str]]:
    """Return a function that makes the command of a trial, with arguments that depend on its number."""

    def trial_command(trial: Trial, folder: Path) -> list[str]:
        return [str(TRIAL), f"x={trial.params['x']}", f"folder={folder}", *arguments(trial.number)]

    return trial_command


def search(
    folder: Path, total: int, slots: Sequence[Slot], arguments: Callable[[int], list[str]], max_failures: int = 5
) -> StudyDB:
    """Complete a study."""
    db = StudyDB(folder, "study", SPACE, total)
    Scheduler(db, SlotPool(slots), command(arguments), Silent(), max_failures).run()
    return db
