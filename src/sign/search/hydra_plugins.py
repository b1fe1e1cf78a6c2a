"""The two plugins of Hydra: a launcher for ``-m`` with lists of values, a sweeper for a search.

Nothing slow is imported before one of them is used.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from sign.errors import SignError
from sign.search.command import Program
from sign.search.settings import search_settings
from sign.search.slots import Outcome, Running, make_slots, start
from sign.system.atomic_files import create_unique_folder
from sign.system.console import console

POLL = 0.05


def register() -> None:
    """Make the plugins known to Hydra, which finds installed ones alone by itself."""
    for plugin in (SlotLauncher, StudySweeper):
        Plugins.instance().register(plugin)


class SlotLauncher(Launcher):
    """Each job is a process of its own on a slot; one that fails does not end the others."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Remember the configuration."""
        self.config = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run the jobs; those that failed are listed at the end."""
        search = search_settings(self.config)
        slots = make_slots(search.slots, search.devices, str(self.config.trainer.accelerator))
        program, folder = Program.of(self.config), Path(str(self.config.hydra.sweep.dir))
        waiting = [(initial_job_idx + index, list(words)) for index, words in enumerate(job_overrides)]
        at_work: dict[int, tuple[list[str], Running]] = {}
        outcomes: dict[int, tuple[list[str], Outcome]] = {}
        try:
            while waiting or at_work:
                busy = {running.slot for _, running in at_work.values()}
                for slot in [slot for slot in slots if slot not in busy][: len(waiting)]:
                    number, words = waiting.pop(0)
                    own = create_unique_folder(folder, str(number))
                    at_work[number] = (
                        words,
                        start(slot, len(slots), program.command(words), own, len(slots) == 1),
                    )
                time.sleep(POLL)
                for number, (words, running) in list(at_work.items()):
                    if outcome := running.outcome():
                        del at_work[number]
                        outcomes[number] = words, outcome
                        _tell(number, words, outcome, running)
        finally:
            for _, running in at_work.values():
                running.stop()
        return _returned(outcomes, folder)


class StudySweeper(Sweeper):
    """A study of Optuna on the slots of this machine."""

    def __init__(self, sampler: DictConfig, params: DictConfig) -> None:
        self.sampler, self.params = sampler, params

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Remember the configuration."""
        self.composed, self.loader = config, hydra_context.config_loader

    def sweep(self, arguments: list[str]) -> None:
        """Complete the study."""
        from sign.search.study import Study  # Optuna takes a second

        Study(self.composed, arguments, self.loader).run()


def _tell(number: int, words: Sequence[str], outcome: Outcome, running: Running) -> None:
    shown = f"failed: {outcome.reason}" if outcome.reason else "done"
    if outcome.value is not None:
        shown = f"val loss {outcome.value:.4f}"
    console.print(
        f"job {number} ({' '.join(words)}): {shown}, {outcome.seconds:.0f} s on {running.slot}",
        soft_wrap=True,
        markup=False,
    )


def _returned(outcomes: dict[int, tuple[list[str], Outcome]], folder: Path) -> list[JobReturn]:
    failed = {number: outcome for number, (_, outcome) in outcomes.items() if outcome.reason}
    if failed:
        reasons = "; ".join(f"job {number}: {outcome.reason}" for number, outcome in sorted(failed.items()))
        raise SignError(
            f"{len(failed)} of {len(outcomes)} jobs failed ({reasons}); what they said is in {folder}"
        )
    return [
        JobReturn(overrides=words, status=JobStatus.COMPLETED, _return_value=outcome.value)
        for _, (words, outcome) in sorted(outcomes.items())
    ]
