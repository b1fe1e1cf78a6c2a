"""A composed configuration with a search space ▶ a complete study and its results."""

import copy
import logging
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig, open_dict
from optuna.samplers import BaseSampler
from optuna.trial import Trial

from sign.config.configure import configure, override
from sign.config.identity import identity
from sign.config.settings import Settings
from sign.errors import SignError
from sign.runs import STUDY
from sign.search import results
from sign.search.command import Program
from sign.search.progress import ProgressView
from sign.search.sampler import make_pruner, make_sampler
from sign.search.scheduler import Scheduler
from sign.search.settings import SearchSettings, search_settings
from sign.search.slots import STDERR_FILE, SlotPool, last_line, make_slots
from sign.search.space import Space, read_space
from sign.search.study_db import StudyDB

MACHINE_SECTIONS = ("paths", "store", "engine", "trainer", "logger")  # not part of best.yaml

log = logging.getLogger(__name__)


class Study:
    """One search: its settings, its space, its slots and its database."""

    def __init__(self, config: DictConfig, arguments: list[str], loader: ConfigLoader) -> None:
        self.config, self.loader = config, loader
        self.machine_overrides = [line for line in arguments if _section(line) in MACHINE_SECTIONS]
        self.program = Program.from_config(config)
        self.space = read_space(config.hydra.sweeper.params or {}, arguments)
        base = self._compose(self.space.overrides)
        with open_dict(base):
            del base["hydra"]
        self.search = search_settings(base)
        self.settings = configure(copy.deepcopy(base), [])  # raises on a wrong setting before anything is computed
        self.slots = make_slots(self.search.slots, self.search.devices, str(base.trainer.accelerator))
        self.db = self._open_database(base)

    def run(self) -> None:
        """Complete the study, write its results, and print the command that trains the best configuration."""
        with self.db.lock.errors_explained():
            self.db.check_identity(_identity(self.settings, self.space, self.search))
            if not self.db.is_complete():
                self._run_trials()
            self._conclude()
            tags = [self.settings.dataset.name, self.settings.title]
            results.log_summary(self.db, self.settings.tracker, tags)

    def _compose(self, overrides: Sequence[str]) -> DictConfig:
        return self.loader.load_sweep_config(self.config, [*overrides, "job_type=search"])

    def _open_database(self, base: DictConfig) -> StudyDB:
        search, settings = self.search, self.settings
        label = search.study or self.config.hydra.runtime.choices.get("hparams_search") or "search"
        is_grid = str(self.config.hydra.sweeper.sampler["_target_"]).endswith(".GridSampler")
        queue = [self.space.point_of(base)] if search.baseline else []
        queue += self.space.grid() if is_grid else []
        if search.trials is None and not is_grid:
            raise SignError("search.trials=null: only a grid determines its own total; set a number")
        total = search.trials or len(queue)
        return StudyDB(
            settings.output_dir / settings.dataset.name / settings.slug / f"search-{label}",
            search.study or f"{settings.dataset.name}-{settings.slug}-{label}",
            self.space.distributions,
            min(total, len(queue)) if is_grid else total,
            search.storage,
            queue,
            make_pruner(search.pruner, settings.training.max_epochs),
            None if is_grid else self._sampler(),
        )

    def _sampler(self) -> Callable[[int], BaseSampler]:
        make = partial(make_sampler, self.config.hydra.sweeper.sampler)
        make(0)  # raises on a wrong setting before anything is computed
        return make

    def _run_trials(self) -> None:
        self._precompute()
        # a series reports its first run to the pruner; a single run its last attempt
        pruned_run = None if self.search.pruner == "none" else 0 if self.search.runs > 1 else -1
        try:
            with _Progress(self.db) as view, _interrupt_on_sigterm():
                Scheduler(self.db, self.slots, self._command, view, self.search.max_failures, pruned_run).run()
        except BaseException:
            log.info("to resume: run the same command again")
            raise

    def _precompute(self) -> None:
        """Compute the missing hops once, up to the highest powers of the space."""
        powers = {f"model.{letter}": self.space.highest(f"model.{letter}") for letter in self.settings.powers}
        overrides = [f"{name}={power}" for name, power in powers.items() if power is not None]
        command = self.program.precompute_command([*self.space.overrides, *overrides, "job_type=search"])
        log.info("computing the missing hops")
        with SlotPool(self.slots[:1]) as pool:
            worker = pool.start(self.slots[0], command, self.db.folder / "hops")
            if worker.process.wait():
                raise SignError(f"the hops could not be computed: {last_line(worker.folder / STDERR_FILE)}")

    def _command(self, trial: Trial, folder: Path) -> list[str]:
        overrides = [f"runs={self.search.runs}", "job_type=search", f"trial={trial.number}"]
        overrides += [override("group", self.db.name), override("paths.output_dir", str(folder))]
        return self.program.command([*self.space.trial_overrides(trial.params), *overrides])

    def _conclude(self) -> None:
        best = self.db.best_trial()
        with self.db.lock.hold():
            if best:
                results.write_best(self.db, best, self._compose(self.space.trial_overrides(best.params)))
            results.write_study(self.db, final=True)
        if best is None:
            raise SignError(
                f"no trial of the study {self.db.name} has a result; {self.db.folder / STUDY} lists the reasons; "
                "start another study with search.study=<name>"
            )
        command = ["python", sys.argv[0], "--config-dir", str(self.db.folder), "experiment=best", "runs=10"]
        command += [*self.program.search_path, *self.machine_overrides]
        results.show(self.db, best, shlex.join(command))


class _Progress(ProgressView):
    """Writes ``study.json`` after each trial, too."""

    def trial_ended(self, number: int) -> None:
        super().trial_ended(number)
        with self.db.lock.hold():
            results.write_study(self.db)


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
    """Treat SIGTERM, which job schedulers send before they kill, like Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _identity(settings: Settings, space: Space, search: SearchSettings) -> dict[str, Any]:
    """Return the settings that make two trials comparable."""
    fixed = identity(settings.config, settings.dataset.content_digest())
    searched = {name: str(distribution) for name, distribution in space.distributions.items()}
    return {"search.runs": search.runs} | fixed | searched


def _section(override: str) -> str:
    return override.lstrip("+~").split("=")[0].split(".")[0]
