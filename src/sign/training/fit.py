"""Fit a network and test its best checkpoint, in as many processes as are asked for."""

import logging
import statistics
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from omegaconf import OmegaConf
from pytorch_lightning.callbacks import Callback, ModelCheckpoint
from pytorch_lightning.loggers import Logger

from sign.config.configure import configure
from sign.config.settings import Settings
from sign.errors import SharedError
from sign.runs import CHECKPOINTS, EPOCHS, Run
from sign.system import memory
from sign.training.callbacks import (
    BestCheckpoint,
    EpochLog,
    EpochProgress,
    LastCheckpoint,
    Patience,
    Stopwatch,
)
from sign.training.datamodule import SIGNDataModule
from sign.training.distributed import company, lightning_options, meet
from sign.training.ranks import Place
from sign.training.task import SIGNTask


def fit_and_test(
    settings: Settings, folder: Path, datamodule: SIGNDataModule, task: SIGNTask, loggers: list[Logger]
) -> dict[str, float]:
    """Fit, then evaluate the best checkpoint on every split; in as many processes as are asked for."""
    order = {
        "settings": settings.config,
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
        raise SharedError(
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
        classes=datamodule.classification.classes,
        multilabel=datamodule.classification.multilabel,
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


def quieten() -> None:
    """Leave out what Lightning says of itself; our own lines say what was done."""
    for name in ("pytorch_lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pytorch_lightning")
