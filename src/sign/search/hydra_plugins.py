"""Hydra plugins: a launcher for ``-m`` with lists of values, and a sweeper for hyperparameter search.

Slow libraries are imported only when a plugin is used.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from sign.config.choices import check_choices
from sign.config.overrides import normalize_override
from sign.errors import SignError
from sign.search.command import Program
from sign.search.forkserver import LIBRARIES
from sign.search.settings import search_settings
from sign.search.slots import Outcome, Slot, SlotPool, local_ranks, make_slots
from sign.system.atomic_files import create_unique_folder

log = logging.getLogger(__name__)


def register() -> None:
    """Register the plugins; Hydra discovers only those in the namespace ``hydra_plugins`` by itself."""
    for plugin in (SlotLauncher, StudySweeper):
        Plugins.instance().register(plugin)


class SlotLauncher(Launcher):
    """Runs each job in a process on a slot; a failed job does not stop the others."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep the configuration."""
        self.config, self.loader = config, hydra_context.config_loader
        check_choices(config.hydra, self.loader)

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run all jobs; raise a ``SignError`` that lists those that failed."""
        for overrides in job_overrides:  # a misspelt one is reported before the first job runs
            composed = self.loader.load_sweep_config(self.config, list(map(normalize_override, overrides)))
            check_choices(composed.hydra, self.loader)
        search = search_settings(self.config)
        slots = make_slots(search.slots, search.devices, str(self.config.trainer.accelerator))
        program, folder = Program.from_config(self.config), Path(str(self.config.hydra.sweep.dir))
        jobs = dict(enumerate(job_overrides, initial_job_idx))
        waiting, running = list(jobs), dict[Slot, int]()
        outcomes: dict[int, Outcome] = {}
        with SlotPool(slots, LIBRARIES, local_ranks(self.config)) as pool:
            while waiting or pool.workers:
                for slot in pool.free_slots[: len(waiting)]:
                    running[slot] = number = waiting.pop(0)
                    command = program.command(jobs[number])
                    pool.start(slot, command, create_unique_folder(folder, str(number)), show=len(slots) == 1)
                for worker, outcome in pool.wait():
                    number = running[worker.slot]
                    outcomes[number] = outcome
                    job = f"job {number} ({' '.join(jobs[number])})"
                    text = str(outcome) if outcome.value is None else f"{search.metric} {outcome}"
                    log.info("%s: %s, %.0f s on %s", job, text, outcome.seconds, worker.slot)
        if reasons := [f"job {number}: {outcomes[number].reason}" for number in jobs if outcomes[number].reason]:
            failed = f"{len(reasons)} of {len(jobs)} jobs failed ({'; '.join(reasons)})"
            raise SignError(f"{failed}; see their output in {folder}")
        return [
            JobReturn(overrides=list(overrides), status=JobStatus.COMPLETED, _return_value=outcomes[number].value)
            for number, overrides in jobs.items()
        ]


class StudySweeper(Sweeper):
    """Runs an Optuna study on the slots of this machine."""

    def __init__(self, sampler: DictConfig, params: DictConfig) -> None:
        self.sampler, self.params = sampler, params

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep the configuration."""
        self.composed, self.loader = config, hydra_context.config_loader
        check_choices(config.hydra, self.loader)

    def sweep(self, arguments: list[str]) -> None:
        """Complete the study."""
        from sign.search.study import Study  # importing Optuna takes a second

        Study(self.composed, arguments, self.loader).run()
