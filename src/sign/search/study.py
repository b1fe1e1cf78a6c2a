"""A composed configuration with a space ▶ a complete study and what it leaves behind."""

import copy
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

from sign.config.configure import Settings, configure
from sign.errors import SignError
from sign.search import results
from sign.search.command import Program, quoted
from sign.search.progress import View
from sign.search.sampler import make_pruner, make_sampler
from sign.search.scheduler import Progress, Search
from sign.search.settings import SearchSettings, search_settings
from sign.search.slots import Slot, last_line, make_slots, start
from sign.search.space import Space, read_space
from sign.search.study_db import Ledger
from sign.search.wandb_trials import Tracking
from sign.system.console import console

PLACES = (
    "paths",
    "store",
    "engine",
    "trainer",
    "logger",
)  # where things run and lie, which best.yaml leaves open


class Study:
    """One search: its settings, its space, its folder and its ledger."""

    def __init__(self, config: DictConfig, arguments: list[str], loader: ConfigLoader) -> None:
        self.config, self.loader = config, loader
        self.places = [word for word in arguments if any(_is_of(word, group) for group in PLACES)]
        self.program = Program.of(config)
        self.space = read_space(config.hydra.sweeper.params or {}, arguments)
        self.base = self._composed(self.space.words)
        self.search = search_settings(self.base)
        self.settings = _checked(self.base)
        self.slots = make_slots(self.search.slots, self.search.devices, str(self.base.trainer.accelerator))
        label = self.search.study or config.hydra.runtime.choices.get("hparams_search") or "search"
        parent = self.settings.output_dir / self.settings.dataset.name / self.settings.slug
        queue = self._queue()
        self.ledger = Ledger(
            parent / f"search-{label}",
            self.search.study or f"{self.settings.dataset.name}-{self.settings.slug}-{label}",
            self.space.distributions,
            self._total(queue),
            self.search.storage,
            queue,
            make_pruner(self.search.pruner, self.settings.training.max_epochs),
            self._sampler(),
        )

    def run(self) -> None:
        """Complete the study, and say what to do next."""
        with self.ledger.turn.failures_told():
            self._run()

    def _run(self) -> None:
        self.ledger.agree(_identity(self.settings, self.space, self.search))
        tracking = Tracking(
            self.settings.tracker, self.ledger, [self.settings.dataset.name, self.settings.title]
        )
        if not self.ledger.complete:
            self._complete(tracking)
        self._conclude()
        with tracking:
            tracking.summarise()

    def _complete(self, tracking: Tracking) -> None:
        self._prepare()
        try:
            with View(self.ledger) as view, tracking, _orderly():
                self._search(_Both(view, tracking)).run()
        except BaseException:
            console.print("to go on: the same command again", soft_wrap=True)
            raise

    def _search(self, watcher: "_Both") -> Search:
        reported = (
            0 if self.search.runs > 1 else -1
        )  # the first of a series; the last attempt of a single run
        return Search(
            self.ledger,
            self.slots,
            self._command,
            watcher,
            self.search.max_failures,
            None if self.search.pruner == "none" else reported,
        )

    def _composed(self, words: Sequence[str]) -> DictConfig:
        cfg = self._with_choices(words)
        with open_dict(cfg):
            del cfg["hydra"]
        return cfg

    def _with_choices(self, words: Sequence[str]) -> DictConfig:
        return self.loader.load_sweep_config(self.config, [*words, "job_type=search"])

    def _queue(self) -> list[dict[str, Any]]:
        first = [self.space.point_of(self.base)] if self.search.baseline else []
        return first + (self.space.grid() if self._is_grid else [])

    def _sampler(self) -> Callable[[int], BaseSampler] | None:
        if self._is_grid:
            return None
        make = partial(make_sampler, self.config.hydra.sweeper.sampler)
        make(0)  # a wrong one is answered before anything is computed
        return make

    @property
    def _is_grid(self) -> bool:
        return str(self.config.hydra.sweeper.sampler["_target_"]).endswith(".GridSampler")

    def _total(self, queue: list[dict[str, Any]]) -> int:
        if self._is_grid:
            return min(self.search.trials or len(queue), len(queue))
        if self.search.trials is None:
            raise SignError("search.trials=null: only a grid has a total of its own; give a number")
        return self.search.trials

    def _prepare(self) -> None:
        """Compute the hops once, up to the highest powers that are searched."""
        powers = {f"model.{letter}": self.space.highest(f"model.{letter}") for letter in self.settings.powers}
        words = [f"{name}={value}" for name, value in powers.items() if value is not None]
        command = self.program.command(
            [*self.space.words, *words, "job_type=search"], sibling="precompute.py"
        )
        console.print("computing the hops that are missing", soft_wrap=True)
        running = start(Slot(0, self.slots[0].device), 1, command, self.ledger.folder / "hops")
        try:
            if running.process.wait():
                raise SignError(f"the hops cannot be computed: {last_line(running.folder / 'stderr.txt')}")
        finally:
            running.stop()

    def _command(self, trial: Trial, folder: Path) -> list[str]:
        words = [word for word in self.space.words_of(trial.params) if not _is_of(word, "logger")]
        own = [f"runs={self.search.runs}", "job_type=search", f"group={self.ledger.study.study_name}"]
        return self.program.command([*words, *own, "logger=csv", f"paths.output_dir={quoted(folder)}"])

    def _conclude(self) -> None:
        with self.ledger.turn.taken():
            if best := self.ledger.best:
                cfg = self._with_choices(self.space.words_of(best.params))
                results.write_best(self.ledger, best, cfg)
            results.write_study(self.ledger, final=True)
        if best is None:
            raise SignError(
                f"no trial of the study {self.ledger.study.study_name} has a result; {self.ledger.folder}/study.json "
                "says why; begin another with search.study=<name>"
            )
        command = [
            "python",
            sys.argv[0],
            "--config-dir",
            str(self.ledger.folder),
            "experiment=best",
            "runs=10",
        ]
        results.show(self.ledger, best, shlex.join([*command, *self.program.search_path, *self.places]))


@contextmanager
def _orderly() -> Iterator[None]:
    """End on SIGTERM, which schedulers send before they kill, as on Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Both:
    """A search is seen on the terminal, in study.json and by the tracker."""

    def __init__(self, view: View, tracking: Tracking) -> None:
        self.view, self.tracking = view, tracking

    def moved(self, at_work: Sequence[Progress]) -> None:
        self.view.moved(at_work)

    def ended(self, number: int) -> None:
        self.view.ended(number)
        self.tracking.ended(number)
        with self.view.ledger.turn.taken():
            results.write_study(self.view.ledger)


def _checked(cfg: DictConfig) -> Settings:
    """The configuration of a trial, before its values are drawn; a wrong one is answered here."""
    return configure(copy.deepcopy(cfg), [])


def _identity(settings: Settings, space: Space, search: SearchSettings) -> dict[str, Any]:
    """What makes two trials comparable."""
    found: dict[str, Any] = {"search.runs": search.runs, "seed": settings.seed}
    found |= {"store.dtype": settings.store.dtype, "trainer.precision": settings.device.precision}
    for section in ("dataset", "model", "training", "scaling"):
        for name, value in settings.composed[section].items():
            if f"{section}.{name}" not in space.distributions and name != "data_dir":
                found[f"{section}.{name}"] = value
    return found | {name: str(distribution) for name, distribution in space.distributions.items()}


def _is_of(word: str, group: str) -> bool:
    name = word.lstrip("+~").split("=")[0]
    return name == group or name.startswith(f"{group}.")
