"""Settings ▶ objects ▶ fit, test ▶ numbers and a run folder."""

import logging
import statistics
import time
import warnings
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from omegaconf import OmegaConf
from pytorch_lightning.callbacks import Callback, ModelCheckpoint
from pytorch_lightning.loggers import Logger
from rich.table import Table

import sign
from sign import memory
from sign.callbacks import BestCheckpoint, EpochLog, EpochProgress, LastCheckpoint, Patience, Stopwatch
from sign.company import company, lightning_options, meet, processes
from sign.configuration import Settings, configure, run_folder_of
from sign.console import console
from sign.datamodule import SIGNDataModule
from sign.diffusion import Hops
from sign.errors import FieldError, SignError
from sign.graph import SPLITS
from sign.loggers import RunCard
from sign.places import Place
from sign.problem import Problem
from sign.runs import CHECKPOINTS, CONFIG, EPOCHS, METRICS, RUN, Run, write_json
from sign.store import MANIFEST
from sign.task import SIGNTask

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
    check_problem(settings, datamodule.problem)
    if settings.ckpt_path:
        check_checkpoint(settings.ckpt_path, make_task(settings, datamodule))
    return datamodule


def run(settings: Settings, datamodule: SIGNDataModule, folder: Path) -> dict[str, float]:
    """One run in its folder: what it is, the training, and at the end its numbers."""
    pl.seed_everything(settings.seed, verbose=False)
    task = make_task(settings, datamodule)
    OmegaConf.save(OmegaConf.create(settings.composed), folder / CONFIG)
    if not (folder / RUN).exists():  # what a resumed run computed before is not forgotten
        write_json(folder / RUN, describe(settings, datamodule.hops))
    loggers = settings.tracker.start(run_card(settings, folder))
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
        "job": settings.job,
        "group": settings.group,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"sign": sign.__version__} | {name: version(name) for name in PACKAGES},
        "hops": hops.records(),
        "products": hops.products,
        "rows_computed": hops.rows_computed,
        "rows_saved": hops.rows_saved,
    }


def fit_and_test(
    settings: Settings, folder: Path, datamodule: SIGNDataModule, task: SIGNTask, loggers: list[Logger]
) -> dict[str, float]:
    """Fit, then evaluate the best checkpoint on every split; in as many processes as are asked for."""
    order = {
        "settings": settings.composed,
        "seed": settings.seed,
        "ckpt_path": settings.ckpt_path and str(settings.ckpt_path),
        "folder": str(folder),
    }
    with company(settings.device, follow, order) as place:
        return take_part(settings, folder, datamodule, task, loggers, place)


def follow(order: dict[str, Any], place: Place) -> None:
    """Take part in what the first process does, as another one."""
    quieten()
    settings = configure(OmegaConf.create({**order["settings"], "ckpt_path": None}), [])
    checkpoint = order["ckpt_path"] and Path(order["ckpt_path"])
    settings = replace(settings, seed=order["seed"], ckpt_path=checkpoint)
    pl.seed_everything(settings.seed, verbose=False)
    datamodule = make_datamodule(settings)
    task = make_task(settings, datamodule)
    take_part(settings, Path(order["folder"]), datamodule, task, [], place)


def take_part(
    settings: Settings,
    folder: Path,
    datamodule: SIGNDataModule,
    task: SIGNTask,
    loggers: list[Logger],
    place: Place,
) -> dict[str, float]:
    """Fit and test as one of the processes of a run."""
    meet(place)
    stopwatch = Stopwatch()
    best, callbacks = make_callbacks(settings, folder, stopwatch)
    trainer = pl.Trainer(
        accelerator=settings.device.accelerator,
        precision=settings.device.precision,
        **lightning_options(place, settings.device),
        max_epochs=settings.training.max_epochs,
        callbacks=callbacks,
        logger=loggers or False,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        deterministic=True,
    )
    if settings.device.compile:
        task.network.compile()  # in place: checkpoints are those of the plain network
    try:
        trainer.fit(task, datamodule=datamodule, ckpt_path=settings.ckpt_path, weights_only=True)
    except SystemExit:  # Lightning's way to end after Ctrl-C
        raise KeyboardInterrupt from None
    epochs = trainer.current_epoch
    if best.best_model_score is None or not best.best_model_score.isfinite():
        raise SignError(
            f"training diverged: {settings.training.monitor} was never finite; "
            f"lower training.learning_rate={settings.training.learning_rate}"
        )
    trainer.test(
        task,
        datamodule=datamodule,
        ckpt_path=best.best_model_path,
        weights_only=True,
        verbose=False,
    )
    return {name: float(value) for name, value in trainer.callback_metrics.items()} | {
        "epochs": epochs,
        "parameters": sum(parameter.numel() for parameter in task.parameters()),
        "seconds/precompute": datamodule.hops.cost,
        "seconds/epoch": seconds_per_epoch(folder),
        "seconds/inference": stopwatch.inference,
        "memory/peak_bytes": memory.peak(),
    }


def seconds_per_epoch(folder: Path) -> float:
    """The mean over all epochs of a run, before an interruption or after; the first one, which warms up, aside."""
    seconds = [row["seconds/epoch"] for row in Run(folder).epochs()]
    return statistics.fmean(seconds[1:] or seconds or [0.0])


def make_datamodule(settings: Settings) -> SIGNDataModule:
    """The data module of a run."""
    return SIGNDataModule(
        settings.precomputation, settings.scaling.hops, settings.training.batch_size, settings.seed
    )


def make_task(settings: Settings, datamodule: SIGNDataModule) -> SIGNTask:
    """The task of a run, its size taken from the data."""
    return SIGNTask(
        features=datamodule.features,
        branches=datamodule.hops.names,
        classes=datamodule.problem.classes,
        multilabel=datamodule.problem.multilabel,
        architecture=asdict(settings.architecture),
        training=asdict(settings.training),
        seed=settings.seed,
    )


def make_callbacks(
    settings: Settings, folder: Path, stopwatch: Stopwatch
) -> tuple[ModelCheckpoint, list[Callback]]:
    """The checkpoint to test, and all callbacks."""
    training = settings.training
    mode = "min" if training.monitor == "val/loss" else "max"
    best = BestCheckpoint(
        folder / CHECKPOINTS,
        filename="best",
        monitor=training.monitor,
        mode=mode,
        enable_version_counter=False,
    )
    last = LastCheckpoint(folder / CHECKPOINTS / "last.ckpt")
    stopping = Patience(training.monitor, mode=mode, patience=training.patience)
    log = EpochLog(folder / EPOCHS, stopwatch)
    return best, [stopwatch, log, EpochProgress(training.max_epochs), stopping, best, last]


def make_run_folder(settings: Settings) -> Path:
    """The one that is asked for; or, when a checkpoint of a run folder is resumed, that one; or a new one."""
    if settings.run_folder:
        settings.run_folder.mkdir(parents=True, exist_ok=True)
        return settings.run_folder
    if resumed := run_folder_of(settings.ckpt_path):
        return resumed
    parent = settings.output_dir.resolve() / settings.dataset.name / settings.slug
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-seed{settings.seed}"
    folder, attempt = parent / stem, 1
    while True:
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:  # another run of this second
            folder, attempt = parent / f"{stem}-{attempt}", attempt + 1


def check_problem(settings: Settings, problem: Problem) -> None:
    """What training needs of a problem, beyond what makes it one."""
    for split in ("val", "test"):
        if not len(problem.labels[split]):
            raise SignError(f"{problem.name}: the {split} split is empty; ask for smaller training splits")
    if problem.multilabel and settings.training.monitor == "val/accuracy":
        raise SignError("training.monitor=val/accuracy: multilabel data have val/loss and val/micro_f1")
    world = processes(settings.device)
    if settings.architecture.batch_norm:
        check_batch_norm(problem, world, settings.training.batch_size)


def check_batch_norm(problem: Problem, processes: int, batch_size: int) -> None:
    """Batch norm in training needs two rows of every batch in each process."""
    without, rows = "(model.batch_norm=false does without it)", len(problem.labels["train"])
    if rows < 2 * processes:
        raise SignError(
            f"{problem.name}: {rows} training node{'s' * (rows != 1)}, but batch norm needs two in each of "
            f"{processes} process{'es' * (processes != 1)} {without}"
        )
    if batch_size < 2 * processes:
        advice = f"batch norm needs two rows in each of {processes} processes {without}"
        raise FieldError("training.batch_size", batch_size, advice)


def check_checkpoint(file: Path, task: SIGNTask) -> None:
    """Refuse a checkpoint whose network or task is not this one."""
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
        theirs = dict(saved["hyper_parameters"])
    except Exception as error:
        raise SignError(f"ckpt_path={file}: not a checkpoint of SIGN ({type(error).__name__})") from error
    ours = dict(task.hparams)
    for name in ("features", "branches", "classes", "multilabel", "architecture"):
        if theirs.get(name) != ours[name]:
            raise SignError(
                f"ckpt_path={file}: a checkpoint of another model: its {name} are "
                f"{theirs.get(name)}, here {ours[name]}; use the settings in its run's config.yaml"
            )


def run_card(settings: Settings, folder: Path) -> RunCard:
    """What a tracker shows: data set, model and seed first."""
    dataset = settings.dataset
    protocol = "inductive" if dataset.inductive else "transductive"
    return RunCard(
        name=f"{dataset.name} {settings.title} seed {settings.seed}",
        group=settings.group,
        job=settings.job,
        tags=[dataset.name, settings.title, protocol],
        config=settings.composed,
        folder=folder,
    )


def show(settings: Settings, datamodule: SIGNDataModule, numbers: dict[str, Any], folder: Path) -> None:
    """The summary at the end of a run."""
    table = Table(
        title=f"{settings.title} on {datamodule.problem.name}", title_justify="left", show_header=False
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
    table.add_row("peak memory", memory.readable(numbers["memory/peak_bytes"]))
    console.print(table)
    console.print(f"run folder: {folder}", soft_wrap=True)
    console.print(f"store:      {Path(settings.store.root).resolve()}", soft_wrap=True)


def brief(names: list[str]) -> str:
    """Powers of one operator as a range: ``X, p1…p10, t1``."""
    runs: dict[str, list[str]] = {}
    for name in names:
        runs.setdefault(name.rstrip("0123456789"), []).append(name)
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]}…{run[-1]}" for run in runs.values())


def quieten() -> None:
    """Leave out what Lightning says of itself; our own lines say what was done."""
    for name in ("pytorch_lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
