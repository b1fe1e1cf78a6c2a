"""A run: its hops, its folder, the training, and the summary at the end."""

import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from omegaconf import OmegaConf
from rich.table import Table

import sign
from sign.config.resume import run_folder_of
from sign.config.settings import Settings
from sign.diffusion.precompute import Hops
from sign.experiments.preflight import check_checkpoint, check_data
from sign.graph.graph import SPLITS
from sign.runs import CHECKPOINTS, CONFIG, METRICS, RUN, Run
from sign.store.store import MANIFEST
from sign.system import memory
from sign.system.atomic_files import create_unique_folder, write_json, write_text
from sign.system.console import console
from sign.tracking.base import RunInfo
from sign.training.datamodule import SIGNDataModule
from sign.training.fit import fit_and_test, make_datamodule, make_task, quieten

PACKAGES = ("torch", "pytorch-lightning", "numpy", "numba")  # whose versions a run remembers


def train(settings: Settings) -> dict[str, float]:
    """Train, test the best checkpoint, write the run folder; returns the final numbers."""
    datamodule = prepare(settings)
    folder = make_run_folder(settings)
    try:
        numbers = run(settings, datamodule, folder)
    except KeyboardInterrupt:
        resume = folder / CHECKPOINTS / "last.ckpt"
        console.print(f"to go on: python src/train.py ckpt_path={resume}", soft_wrap=True)
        raise
    show(settings, datamodule, numbers, folder)
    return numbers


def prepare(settings: Settings) -> SIGNDataModule:
    """The data module with its hops in the store: everything that can be wrong before a run folder is made."""
    quieten()
    datamodule = make_datamodule(settings)
    check_data(settings, datamodule.classification)
    if settings.ckpt_path:
        check_checkpoint(settings.ckpt_path, make_task(settings, datamodule))
    return datamodule


def run(settings: Settings, datamodule: SIGNDataModule, folder: Path) -> dict[str, float]:
    """One run in its folder: what it is, the training, and at the end its numbers."""
    pl.seed_everything(settings.seed, verbose=False)
    task = make_task(settings, datamodule)
    write_text(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.create(settings.config)))
    if not (folder / RUN).exists():  # what a resumed run computed before is not forgotten
        write_json(folder / RUN, describe(settings, datamodule.hops))
    loggers = settings.tracker.start(run_info(settings, folder))
    try:
        numbers = fit_and_test(settings, folder, datamodule, task, loggers)
        write_json(folder / METRICS, dict(sorted(numbers.items())))
    finally:
        manifests = [chain / MANIFEST for chain in datamodule.hops.folders]
        settings.tracker.finish(loggers, Run(folder), manifests)
    return numbers


def describe(settings: Settings, hops: Hops) -> dict[str, Any]:
    """``run.json``: what is run, with which versions, on which hops."""
    return {
        "dataset": settings.dataset.name,
        "model": settings.title,
        "seed": settings.seed,
        "experiment": settings.experiment,
        "job_type": settings.job_type,
        "group": settings.group,
        "content": settings.dataset.content_digest(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"sign": sign.__version__} | {name: version(name) for name in PACKAGES},
        "hops": hops.records(),
        "products": hops.products,
        "rows_computed": hops.rows_computed,
        "rows_saved": hops.rows_saved,
    }


def make_run_folder(settings: Settings) -> Path:
    """The one that is asked for; or, when a checkpoint of a run folder is resumed, that one; or a new one."""
    if settings.run_folder:
        settings.run_folder.mkdir(parents=True, exist_ok=True)
        return settings.run_folder
    if resumed := run_folder_of(settings.ckpt_path):
        return resumed
    parent = settings.output_dir.resolve() / settings.dataset.name / settings.slug
    return create_unique_folder(parent, f"{time.strftime('%Y%m%d-%H%M%S')}-seed{settings.seed}")


def run_info(settings: Settings, folder: Path) -> RunInfo:
    """What a tracker shows: data set, model and seed first."""
    dataset = settings.dataset
    protocol = "inductive" if dataset.inductive else "transductive"
    return RunInfo(
        name=f"{dataset.name} {settings.title} seed {settings.seed}",
        group=settings.group,
        job_type=settings.job_type,
        tags=[dataset.name, settings.title, protocol],
        config=settings.config,
        folder=folder,
    )


def show(settings: Settings, datamodule: SIGNDataModule, numbers: dict[str, Any], folder: Path) -> None:
    """The summary at the end of a run."""
    table = Table(
        title=f"{settings.title} on {datamodule.classification.name}", title_justify="left", show_header=False
    )
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_row("branches", f"{datamodule.branches} ({brief(datamodule.hops.names)})")
    table.add_row("parameters", f"{numbers['parameters']:,}")
    table.add_row("epochs", f"{numbers['epochs']}")
    for name in ("accuracy", "micro_f1", "loss"):
        values = [numbers.get(f"{split}/{name}") for split in SPLITS]
        if None not in values:
            table.add_row(
                f"{name.replace('_', '-')}  train / val / test",
                " / ".join(f"{value:.4f}" for value in values),
            )
    for name, what in (
        ("seconds/precompute", "precomputation"),
        ("seconds/epoch", "training, an epoch"),
        ("seconds/inference", "inference on the test split"),
    ):
        table.add_row(what, f"{numbers[name]:.3f} s")
    table.add_row("peak memory", memory.format_size(numbers["memory/peak_bytes"]))
    console.print(table)
    console.print(f"run folder: {folder}", soft_wrap=True)
    console.print(f"store:      {Path(settings.store.root).resolve()}", soft_wrap=True)


def brief(names: list[str]) -> str:
    """Powers of one operator as a range: ``X, p1…p10, t1``."""
    runs: dict[str, list[str]] = {}
    for name in names:
        runs.setdefault(name.rstrip("0123456789"), []).append(name)
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}…{run[-1]}" for run in runs.values())
