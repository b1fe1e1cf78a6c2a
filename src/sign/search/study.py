"""A composed configuration with a search space ▶ a complete study and its results."""

import copy
import logging
import re
import shlex
import signal
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig, open_dict
from optuna.trial import Trial

from sign.config.configure import configure, override
from sign.config.identity import identity
from sign.errors import SignError
from sign.runs import STUDY
from sign.search import results
from sign.search.command import Program
from sign.search.forkserver import LIBRARIES
from sign.search.progress import ProgressView
from sign.search.sampler import make_pruner, make_sampler
from sign.search.scheduler import Scheduler
from sign.search.settings import search_settings
from sign.search.slots import SlotPool, local_ranks, make_slots
from sign.search.space import read_space
from sign.search.study_db import StudyDB
from sign.system.program import command_line
from sign.training.settings import RANKING
from sign.validation import check_name

MACHINE_SECTIONS = re.compile(r"[+~]*(paths|store|engine|trainer|logger)([.=]|$)")  # overrides not in best.yaml

log = logging.getLogger(__name__)


class Study:
    """One search: its settings, its space, its slots and its database."""

    def __init__(self, config: DictConfig, arguments: list[str], loader: ConfigLoader) -> None:
        self.config, self.loader = config, loader
        self.machine_overrides = [line for line in arguments if MACHINE_SECTIONS.match(line)]
        self.program = Program.from_config(config)
        self.space = read_space(config.hydra.sweeper.params or {}, arguments)
        self._model_settings: dict[str, frozenset[str]] = {}
        base = self._compose(self.space.overrides)
        with open_dict(base):
            del base["hydra"]
        self.search = search_settings(base)
        self.settings = configure(copy.deepcopy(base), [])  # raises on a wrong setting before anything is computed
        self._check_pruner()
        self.pool = SlotPool(
            make_slots(self.search.slots, self.search.devices, str(base.trainer.accelerator)),
            LIBRARIES,
            local_ranks(base),
        )
        self.db = self._open_database(base)

    def run(self) -> None:
        """Complete the study, write its results, and print the command that trains the best configuration."""
        fixed = identity(self.settings.config, self.settings.dataset.content_digest())
        compared = {"search.metric": self.search.metric, "search.runs": self.search.runs}
        searched = {name: str(distribution) for name, distribution in self.space.distributions.items()}
        with self.db.lock.errors_explained():
            self.db.check_identity(compared | fixed | searched)
            if not self.db.is_complete():
                self._run_trials()
            self._conclude()
            results.log_summary(self.db, self.settings.tracker, [self.settings.dataset.name, self.settings.title])

    def _check_pruner(self) -> None:
        metric, pruner = self.search.metric, self.search.pruner
        if pruner != "none" and metric in RANKING and metric != self.settings.training.monitor:
            raise SignError(
                f"search.pruner={pruner}: compares {metric} after every epoch, where it is computed only if it is "
                f"monitored; set training.monitor={metric}, or search.pruner=none"
            )

    def _compose(self, overrides: Sequence[str]) -> DictConfig:
        return self.loader.load_sweep_config(self.config, [*overrides, "job_type=search"])

    def _open_database(self, base: DictConfig) -> StudyDB:
        search, settings = self.search, self.settings
        label = search.study or self.config.hydra.runtime.choices.get("hparams_search") or "search"
        check_name(label, "hparams_search")
        is_grid = str(self.config.hydra.sweeper.sampler["_target_"]).endswith(".GridSampler")
        queue = [self.space.point_of(base)] if search.baseline else []
        queue += self.space.grid() if is_grid else []
        if search.trials is None and not is_grid:
            raise SignError("search.trials=null: only a grid determines its own total; set a number")
        total = search.trials or len(queue)
        sampler = partial(make_sampler, self.config.hydra.sweeper.sampler)
        if not is_grid:
            sampler(0)  # raises on a wrong setting before anything is computed
        return StudyDB(
            settings.output_dir / settings.dataset.name / settings.slug / f"search-{label}",
            search.study or f"{settings.dataset.name}-{settings.slug}-{label}",
            self.space.distributions,
            min(total, len(queue)) if is_grid else total,
            search.storage,
            queue,
            make_pruner(search.pruner, settings.config["training"]["max_epochs"]),
            None if is_grid else sampler,
            search.metric,
        )

    def _run_trials(self) -> None:
        # a series reports its first run to the pruner; a single run its last attempt
        pruned_run = None if self.search.pruner == "none" else 0 if self.search.runs > 1 else -1
        # job schedulers send SIGTERM before they kill: treat it like Ctrl-C
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            with self.pool:  # which imports the libraries while the hops are computed
                if self.settings.baseline is None:
                    self._precompute()
                with ProgressView(self.db) as view:
                    Scheduler(self.db, self.pool, self._command, view, self.search.max_failures, pruned_run).run()
        except BaseException:
            log.info("to resume: run the same command again")
            raise
        finally:
            signal.signal(signal.SIGTERM, before)

    def _precompute(self) -> None:
        """Compute the missing hops once, up to the highest powers of the space."""
        names = [f"model.{letter}" for letter in self.settings.powers]
        overrides = [f"{name}={self.space.highest(name)}" for name in names if name in self.space.distributions]
        command = self.program.command([*self.space.overrides, *overrides, "job_type=search"], "precompute")
        log.info("computing the missing hops")
        slot = self.pool.slots[0]
        with SlotPool([slot]) as pool:  # with the whole machine, and the libraries of diffusion only
            outcome = pool.finish(pool.start(slot, command, self.db.folder / "hops"))
        if outcome.reason:
            raise SignError(f"the hops could not be computed: {outcome.reason}")

    def _command(self, trial: Trial, folder: Path) -> list[str]:
        overrides = [f"runs={self.search.runs}", "job_type=search", f"trial={trial.number}"]
        overrides += [override("group", self.db.name), override("paths.output_dir", str(folder))]
        return self.program.command([*self._overrides(trial.params), *overrides])

    def _overrides(self, params: Mapping[str, Any]) -> list[str]:
        return self.space.trial_overrides(self._own(params))

    def _own(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The drawn values without settings of ``model`` that the model of the trial does not have."""
        if (model := params.get("model")) is None:
            return dict(params)
        if model not in self._model_settings:
            self._model_settings[model] = frozenset(
                map(str, self._compose([*self.space.overrides, f"model={model}"]).model)
            )
        known = self._model_settings[model]
        names = (name.partition(".") for name in params)
        return {
            f"{section}{dot}{key}": params[f"{section}{dot}{key}"]
            for section, dot, key in names
            if section != "model" or not dot or key.partition(".")[0] in known
        }

    def _conclude(self) -> None:
        best = self.db.best_trial()
        with self.db.lock.hold():
            if best:
                results.write_best(self.db, best, self._compose(self._overrides(best.params)))
            results.write_study(self.db, final=True)
        if best is None:
            raise SignError(
                f"no trial of the study {self.db.name} has a result; {self.db.folder / STUDY} lists the reasons; "
                "start another study with search.study=<name>"
            )
        arguments = ["--config-dir", str(self.db.folder), "experiment=best", "runs=10"]
        arguments += [*self.program.search_path, *self.machine_overrides]
        results.show(self.db, best, self._own(best.params), f"{command_line('train')} {shlex.join(arguments)}")
