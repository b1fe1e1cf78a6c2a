"""Searches whose trials are ``trial.py``."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from optuna.distributions import FloatDistribution
from optuna.trial import Trial

from sign.search.scheduler import Progress, Search
from sign.search.slots import Slot
from sign.search.study_db import Ledger

TRIAL = Path(__file__).with_name("trial.py")
SPACE = {"x": FloatDistribution(0.0, 1.0)}


class Silent:
    """Nothing is shown."""

    def moved(self, at_work: Sequence[Progress]) -> None: ...

    def ended(self, number: int) -> None: ...


def command(words: Callable[[int], list[str]]) -> Callable[[Trial, Path], list[str]]:
    """The command of each trial, with words that depend on its number."""

    def made(trial: Trial, folder: Path) -> list[str]:
        return [
            sys.executable,
            "-I",
            "-S",
            str(TRIAL),
            f"x={trial.params['x']}",
            f"folder={folder}",
            *words(trial.number),
        ]

    return made


def search(
    folder: Path, total: int, slots: Sequence[Slot], words: Callable[[int], list[str]], max_failures: int = 5
) -> Ledger:
    """Run a search to its end."""
    ledger = Ledger(folder, "study", SPACE, total)
    Search(ledger, slots, command(words), Silent(), max_failures).run()
    return ledger
