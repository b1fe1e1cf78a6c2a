"""A series: one configuration trained with several seeds on the same hops, resumed where it was interrupted."""

import gc
import logging
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import DictConfig, OmegaConf, open_dict

from sign.config.configure import configure
from sign.config.defaults import AUTO
from sign.config.identity import fingerprint
from sign.config.settings import Settings
from sign.datasets.base import Dataset
from sign.errors import SharedError, SignError, reason
from sign.graph.graph import SPLITS
from sign.runs import CONFIG, METRICS, SCORES, SERIES, Series, over_seeds
from sign.system.atomic_files import is_disk_full, write_json
from sign.system.locks import exclusive_lock
from sign.training.distributed import broadcast, on_failure, rank, world_size
from sign.validation import Count, Seed, check

SEED = "<seed>"  # stands for the seed of a run in the identity of the series
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SeriesPlan:
    """A series to train: the composed configuration, in which references to the seed are unresolved."""

    cfg: DictConfig
    first: Settings
    series: Series  # its folder may not exist yet

    @property
    def seeds(self) -> range:
        """The seeds of the runs."""
        return range(self.first.seed, self.first.seed + self.first.runs)

    def missing_seeds(self) -> list[int]:
        """Look up the seeds whose runs are not finished."""
        return [seed for seed in self.seeds if not (self.series.run(seed).folder / METRICS).is_file()]

    def settings(self, seed: int) -> Settings:
        """The settings of one run, in its folder, resumed from its last checkpoint."""
        run, cfg = self.series.run(seed), with_seed(self.cfg, seed)
        if cfg.training.shuffle == AUTO and (shuffle := self._recorded_shuffle()):
            cfg.training.shuffle = shuffle
        settings = configure(cfg, [])
        return replace(settings, run_folder=run.folder, ckpt_path=run.last_checkpoint)

    def _recorded_shuffle(self) -> str | None:
        """How the runs that exist shuffle, which was decided by the memory that was free then."""
        configs = [run.config for run in map(self.series.run, self.seeds) if (run.folder / CONFIG).is_file()]
        return configs[0]["training"]["shuffle"] if configs else None


def plan(cfg: DictConfig) -> SeriesPlan:
    """Check a configuration with ``runs``, for all its seeds, before anything is trained."""
    if OmegaConf.select(cfg, "ckpt_path") is not None:
        raise SignError(f"ckpt_path={cfg.ckpt_path}: a series resumes its runs by itself; omit ckpt_path")
    check("seed", cfg.seed, Seed)
    check("runs", cfg.runs, Count)
    first = configure(with_seed(cfg, cfg.seed), [])
    parent = first.output_dir.resolve() / first.dataset.name / first.slug
    checked = SeriesPlan(cfg, first, Series(parent / f"series-{_fingerprint(cfg, first.dataset)}"))
    check("seed + runs", checked.seeds[-1], Seed)
    return checked


def with_seed(cfg: DictConfig, seed: Any) -> DictConfig:
    """A copy of a configuration with another seed; references to the seed stay unresolved."""
    copy = cfg.copy()
    with open_dict(copy):
        copy.seed = seed
    return copy


def _fingerprint(cfg: DictConfig, dataset: Dataset) -> str:
    """A hash of the settings, and the content of the user's own files, that change the metrics of a series."""
    plain: Any = OmegaConf.to_container(with_seed(cfg, SEED), resolve=True)
    plain.pop("search", None)
    return fingerprint(plain, dataset.content_digest())


def train_series(plan: SeriesPlan) -> Series:
    """Train the missing seeds. A failed run is reported and does not stop the others.

    A second process that trains the same series waits for the first and then finds its runs. Of several ranks, rank 0
    decides what is missing.
    """
    folder = plan.series.folder
    on_failure("run the same command again to resume")
    waiting = f"waiting for another process that trains the series in {folder}"
    with nullcontext() if rank() else exclusive_lock(folder, lambda: log.info(waiting)):
        failures: dict[str, str] = {}
        if missing := broadcast(plan.missing_seeds()):
            finished = len(plan.seeds) - len(missing)
            log.info(
                f"{plan.first.title} on {plan.first.dataset.name}: {len(missing)} of {len(plan.seeds)} runs to train"
                + (f", {finished} found" if finished else "")
                + f"; series folder: {folder}"
            )
            _train(plan, missing, failures)
        write(plan, failures)
    broadcast(None)  # the other ranks read what rank 0 wrote
    return Series(folder)


def _train(plan: SeriesPlan, missing: list[int], failures: dict[str, str]) -> None:
    # torch and Lightning take seconds to import: only if a run is missing
    from sign.experiments.preflight import CheckpointError
    from sign.experiments.run import data_module, prepare, run

    data = None
    for seed in missing:
        settings = plan.settings(seed)
        if data is not None and data.source == data_module(settings).source:
            data.reuse(seed)
        else:
            data = None
            gc.collect()  # Lightning's objects refer to each other, and to the rows of the previous run
            data = prepare(settings)
        try:
            try:
                metrics = run(settings, data)
            except CheckpointError as error:  # such as one that a full disk cut short
                log.info(f"seed {seed}: starting from scratch, because of {error}")
                metrics = run(replace(settings, ckpt_path=None), data)
        except Exception as error:  # does not stop the other runs
            if world_size() > 1 and not isinstance(error, SharedError):
                raise  # the other ranks are in the middle of this run
            if is_disk_full(error):
                raise  # the other runs would fail, too
            known = isinstance(error, SignError)
            text = str(error) if known else f"{type(error).__name__}: {reason(error)}"
            failures[str(seed)] = " ".join(text.split())
            log.info(f"seed {seed}: failed: {failures[str(seed)]}")
            continue
        log.info(f"seed {seed}: {_summary(metrics)}")
        write(plan, failures)


def write(plan: SeriesPlan, failures: dict[str, str]) -> None:
    """Write ``series.json`` from the finished runs."""
    if rank():
        return
    series, first = plan.series, plan.first
    missing = plan.missing_seeds()
    seeds = [seed for seed in plan.seeds if seed not in missing]
    series.folder.mkdir(parents=True, exist_ok=True)
    write_json(
        series.folder / SERIES,
        {
            "dataset": first.dataset.name,
            "model": first.title,
            "experiment": first.experiment,
            "job_type": first.job_type,
            "group": first.group,
            "seeds": seeds,
            "runs": first.runs,
            "failures": failures,
            "deviation": "population",
            "metrics": over_seeds([series.run(seed).metrics or {} for seed in seeds]),
        },
    )


def mean_metric(series: Series, metric: str) -> float:
    """The mean of a metric over the runs, for a search; raises SignError if a run failed."""
    if failures := series.description["failures"]:
        reasons = "; ".join(f"seed {seed}: {reason}" for seed, reason in failures.items())
        runs = len(failures) + len(series.seeds)
        raise SignError(f"{len(failures)} of {runs} runs failed ({reasons}); run the same command again to retry them")
    return float(series.metrics[metric]["mean"])


def _summary(metrics: dict[str, float]) -> str:
    score = "accuracy" if "test/accuracy" in metrics else "micro_f1"
    values = " / ".join(f"{metrics[f'{split}/{score}']:.4f}" for split in SPLITS)
    return f"{SCORES[score]} train / val / test {values}, {metrics['epochs']} epochs"
