"""Train one configuration, or a series of it over several seeds."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig
from rich.table import Column, Table

from sign.config.choices import settings_origin
from sign.config.configure import configure
from sign.config.resume import run_folder_of
from sign.config.settings import Settings
from sign.experiments.series import mean_metric, plan, train_series
from sign.graph.graph import SPLITS
from sign.runs import RAW, SCORES, Series
from sign.system import memory
from sign.system.console import console
from sign.training.distributed import process_group

log = logging.getLogger(__name__)
TITLES = SCORES | {"loss": "loss"}
SECONDS = {
    "seconds/precompute": "preprocessing, when computed",
    "seconds/epoch": "training, per epoch",
    "seconds/inference": "inference on the test split",
}


def main(cfg: DictConfig) -> float:
    """Train one configuration, or a series of it; return its ``search.metric``, for a search or a sweep."""
    if cfg.get("runs", 1) != 1:
        series_plan = plan(cfg)
        with process_group(series_plan.first.device):
            log_origin(series_plan.first)
            series = train_series(series_plan)
            print_series(series)
            return mean_metric(series, series_plan.first.search_metric)
    settings = configure(cfg)
    with process_group(settings.device):
        log_origin(settings)
        from sign.experiments.run import run  # torch and Lightning take seconds: not before the checks

        metrics = run(settings)
        print_run(settings, metrics)
        return metrics[settings.search_metric]


def log_origin(settings: Settings) -> None:
    """Log where the settings come from: tuned settings or a resumed run, an experiment, overrides."""
    if HydraConfig.initialized():
        log.info("settings: %s", settings_origin(HydraConfig.get(), run_folder_of(settings.ckpt_path)))


def print_run(settings: Settings, metrics: dict[str, float]) -> None:
    """Print the summary of a run."""
    console.print(score_table(f"{settings.title} on {settings.dataset.name}, seed {settings.seed}", metrics))
    if settings.smoothing.enabled:
        raw = {name.removeprefix(RAW): value for name, value in metrics.items() if name.startswith(RAW)}
        console.print(score_table("before smoothing", raw))
    if "stage" in metrics:
        console.print(stage_table(metrics, settings.training.monitor))
    costs = Table(Column(style="dim"), Column(justify="right"), show_header=False)
    costs.add_row("parameters", f"{metrics['parameters']:,}")
    costs.add_row("epochs", f"{metrics['epochs']}")
    for name, label in SECONDS.items():
        costs.add_row(label, f"{metrics[name]:.3f} s")
    costs.add_row("peak memory", memory.format_size(metrics["memory/peak_bytes"]))
    console.print(costs)
    console.print(f"store: {Path(settings.store.root).resolve()}", soft_wrap=True)


def score_table(title: str, metrics: Mapping[str, float], splits: Sequence[str] = SPLITS) -> Table:
    """The metrics of each split that has them."""
    columns = (Column(split, justify="right") for split in splits)
    table = Table(Column(style="dim"), *columns, title=title, title_justify="left")
    for name, label in TITLES.items():
        values = [metrics.get(f"{split}/{name}") for split in splits]
        if any(value is not None for value in values):
            table.add_row(label, *("" if value is None else f"{value:.4f}" for value in values))
    return table


def stage_table(metrics: Mapping[str, float], monitor: str) -> Table:
    """The pseudo labels and the metrics of each stage of self-training."""
    titles = {"pseudo_labels": "pseudo labels", monitor: monitor}
    titles |= {f"{split}/accuracy": f"{split} accuracy" for split in ("val", "test")}
    title = f"stages, of which {metrics['stage']:.0f} has the best {monitor}"
    table = Table("stage", *(Column(name, justify="right") for name in titles.values()), title=title)
    number = 1
    while f"stage{number}/epochs" in metrics:
        values = [metrics[f"stage{number}/{name}"] for name in titles]
        table.add_row(str(number), f"{values[0]:,.0f}", *(f"{value:.4f}" for value in values[1:]))
        number += 1
    return table


def print_series(series: Series) -> None:
    """Print the summary of a series."""
    description, metrics = series.description, series.metrics
    title = f"{description['model']} on {description['dataset']}, {len(series.seeds)} seeds"
    columns = Column(style="dim"), Column("mean", justify="right"), Column("± deviation", justify="right")
    table = Table(*columns, title=title, title_justify="left")
    rows = [(f"{split}/{name}", f"{split} {label}", 4) for name, label in TITLES.items() for split in SPLITS]
    rows += [("epochs", "epochs", 3), *((name, f"{label}, s", 3) for name, label in SECONDS.items())]
    for name, label, digits in rows:
        if over_seeds := metrics.get(name):
            table.add_row(label, f"{over_seeds['mean']:.{digits}f}", f"{over_seeds['std']:.{digits}f}")
    console.print(table)
    console.print("deviation: of the population of the runs (divided by their number)")
    console.print(f"series folder: {series.folder}", soft_wrap=True)
