"""One configuration trained with several seeds on the same hops; it goes on where it was stopped."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omegaconf import DictConfig, OmegaConf, open_dict
from rich.table import Table

from sign.config.configure import configure
from sign.config.identity import fingerprint
from sign.config.settings import Settings
from sign.datasets.base import Dataset
from sign.errors import SignError
from sign.graph.graph import SPLITS
from sign.runs import METRICS, SERIES, Series, over_seeds
from sign.system.atomic_files import write_json
from sign.system.console import console
from sign.system.locks import exclusive_lock
from sign.validation import Count, Seed, check

if TYPE_CHECKING:
    from sign.training.datamodule import SIGNDataModule

SEED = "<seed>"  # stands for the seed of a run in what the series is named by


@dataclass(frozen=True)
class Plan:
    """A series that is wanted: the composed configuration, with what refers to the seed still open."""

    cfg: DictConfig
    first: Settings

    @property
    def seeds(self) -> range:
        """The seeds of the runs."""
        return range(self.first.seed, self.first.seed + self.first.runs)

    @cached_property
    def series(self) -> Series:
        """Where it is, or will be."""
        parent = self.first.output_dir.resolve() / self.first.dataset.name / self.first.slug
        return Series(parent / f"series-{_fingerprint(self.cfg, self.first.dataset)}")

    @property
    def missing(self) -> list[int]:
        """The seeds whose runs are not finished."""
        series = self.series
        return [seed for seed in self.seeds if not (series.run(seed).folder / METRICS).is_file()]

    def settings(self, seed: int) -> Settings:
        """The settings of one run, in its folder, resumed where it was begun."""
        made = with_seed(self.cfg, seed)
        run = self.series.run(seed)
        return replace(configure(made, []), run_folder=run.folder, ckpt_path=run.last_checkpoint)


def plan(cfg: DictConfig) -> Plan:
    """Check a configuration with ``runs``, for all its seeds, before anything is trained."""
    if OmegaConf.select(cfg, "ckpt_path") is not None:
        raise SignError(f"ckpt_path={cfg.ckpt_path}: a series resumes its runs by itself; leave it out")
    check("seed", cfg.seed, Seed)
    check("runs", cfg.runs, Count)
    made = Plan(cfg, configure(with_seed(cfg, cfg.seed), []))
    check("seed + runs", made.seeds[-1], Seed)
    return made


def with_seed(cfg: DictConfig, seed: Any) -> DictConfig:
    """A copy for one seed, in which what refers to the seed is still to be resolved."""
    copy = cfg.copy()
    with open_dict(copy):
        copy.seed = seed
    return copy


def _fingerprint(cfg: DictConfig, dataset: Dataset) -> str:
    """What stands for the settings, and the user's own files, that change the numbers of a series."""
    plain: Any = OmegaConf.to_container(with_seed(cfg, SEED), resolve=True)
    plain.pop("search", None)
    return fingerprint(plain, dataset.content_digest())


def train_series(wanted: Plan) -> Series:
    """Train what is missing of a series; a run that fails is told, and the others go on."""
    series = wanted.series
    with alone(series.folder):
        failures: dict[str, str] = {}
        if missing := wanted.missing:
            _announce(wanted, missing)
            _train(wanted, missing, failures)
        write(wanted, failures)
    return Series(series.folder)


def _train(wanted: Plan, missing: list[int], failures: dict[str, str]) -> None:
    # torch and Lightning take seconds: only where something is missing
    from sign.experiments.run import make_run_folder, prepare, run

    datamodule = None
    for seed in missing:
        settings = wanted.settings(seed)
        if datamodule is not None and datamodule.precomputation == settings.precomputation:
            _use_again(datamodule, settings.seed)
        else:
            datamodule = None
            gc.collect()  # Lightning's objects hold each other, and with them the rows of the run before
            datamodule = prepare(replace(settings, ckpt_path=None))  # looked at by itself, and not decisive
        folder = make_run_folder(settings)
        try:
            numbers = run(_resumable(settings, datamodule), datamodule, folder)
        except KeyboardInterrupt:
            console.print("to go on: the same command again", soft_wrap=True)
            raise
        except Exception as error:  # whatever ends one run is no reason to lose the others
            failures[str(seed)] = _reason(error)
            console.print(f"seed {seed}: failed: {failures[str(seed)]}", soft_wrap=True)
            continue
        console.print(f"seed {seed}: {_brief(numbers)}", soft_wrap=True)
        write(wanted, failures)


def _use_again(datamodule: "SIGNDataModule", seed: int) -> None:
    """Give the next run of a series the data of the one before, where nothing but the seed is another."""
    classification, hops = datamodule.prepared
    datamodule.prepared = classification, hops.again()
    datamodule.seed = seed


def _resumable(settings: Settings, datamodule: "SIGNDataModule") -> Settings:
    """The settings without a checkpoint that cannot be used, such as one that a full disk cut short."""
    from sign.experiments.preflight import check_checkpoint
    from sign.training.fit import make_task

    if settings.ckpt_path is None:
        return settings
    try:
        check_checkpoint(settings.ckpt_path, make_task(settings, datamodule))
    except SignError as error:
        console.print(f"seed {settings.seed}: from the start again, because of {error}", soft_wrap=True)
        return replace(settings, ckpt_path=None)
    return settings


def write(wanted: Plan, failures: dict[str, str]) -> None:
    """``series.json``, from the runs that are finished."""
    series, first = wanted.series, wanted.first
    missing = wanted.missing
    seeds = [seed for seed in wanted.seeds if seed not in missing]
    found = [series.run(seed).metrics or {} for seed in seeds]
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
            "metrics": over_seeds(found),
        },
    )


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only process at a series; another one that wants the same waits and then finds it."""
    with exclusive_lock(
        folder, lambda: console.print(f"waiting for another series in {folder}", soft_wrap=True)
    ):
        yield


def show(series: Series) -> None:
    """The summary at the end of a series."""
    told, metrics = series.description, series.metrics
    table = Table(
        title=f"{told['model']} on {told['dataset']}, {len(series.seeds)} seeds", title_justify="left"
    )
    for name in ("", "mean", "± deviation"):
        table.add_column(name, justify="right" if name else "left", style=None if name else "dim")
    for measure in ("accuracy", "micro_f1", "loss"):
        for split in SPLITS:
            if found := metrics.get(f"{split}/{measure}"):
                name = f"{split} {measure.replace('_', '-')}"
                table.add_row(name, f"{found['mean']:.4f}", f"{found['std']:.4f}")
    for name, what in (
        ("epochs", "epochs"),
        ("seconds/precompute", "precomputation, s"),
        ("seconds/epoch", "training, an epoch, s"),
        ("seconds/inference", "inference on the test split, s"),
    ):
        if found := metrics.get(name):
            table.add_row(what, f"{found['mean']:.3f}", f"{found['std']:.3f}")
    console.print(table)
    console.print("deviation: of the population of the runs (divided by their number)")
    console.print(f"series folder: {series.folder}", soft_wrap=True)


def outcome(series: Series) -> float:
    """The mean validation loss, which a sweep minimises; a series with a failed run ends with an error."""
    if failures := series.description["failures"]:
        reasons = "; ".join(f"seed {seed}: {reason}" for seed, reason in failures.items())
        runs = len(failures) + len(series.seeds)
        raise SignError(
            f"{len(failures)} of {runs} runs failed ({reasons}); the same command tries them again"
        )
    return float(series.metrics["val/loss"]["mean"])


def _announce(wanted: Plan, missing: list[int]) -> None:
    first, found = wanted.first, len(wanted.seeds) - len(missing)
    console.print(
        f"[bold]{first.title} on {first.dataset.name}[/bold]: {len(missing)} of {len(wanted.seeds)} runs to train"
        + (f", {found} found in {wanted.series.folder}" if found else ""),
        soft_wrap=True,
    )


def _brief(numbers: dict[str, float]) -> str:
    measure = "accuracy" if "test/accuracy" in numbers else "micro_f1"
    scores = " / ".join(f"{numbers[f'{split}/{measure}']:.4f}" for split in SPLITS)
    name = measure.replace("_", "-")
    return f"{name} train / val / test {scores}, {numbers['epochs']} epochs"


def _reason(error: Exception) -> str:
    if isinstance(error, SignError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split())
