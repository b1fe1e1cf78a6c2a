"""Fit a network and test its best checkpoint."""

import statistics
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from lightning_fabric.plugins.environments.lightning import LightningEnvironment
from pytorch_lightning.callbacks import Callback, ModelCheckpoint
from pytorch_lightning.loggers import Logger
from pytorch_lightning.profilers import AdvancedProfiler, SimpleProfiler
from pytorch_lightning.strategies import DDPStrategy
from torch import nn

from sign.engines.base import Engine
from sign.errors import SharedError
from sign.runs import CHECKPOINTS, EPOCHS, Run
from sign.system import memory_peak
from sign.training.callbacks import (
    BestCheckpoint,
    EpochLog,
    EpochProgress,
    LastCheckpoint,
    ResumableEarlyStopping,
    Stopwatch,
    keep_sigterm_handler,
    silence_lightning,
)
from sign.training.checkpoint_io import AtomicCheckpointIO, add_thresholds
from sign.training.distributed import current_rank
from sign.training.node_datamodule import NodeDataModule
from sign.training.node_task import NodeTask
from sign.training.ranks import uses_gpu
from sign.training.settings import Device, Training, is_minimised

PROFILERS = {"simple": SimpleProfiler, "advanced": AdvancedProfiler}


def fit_and_test(
    training: Training,
    device: Device,
    data: NodeDataModule,
    task: NodeTask,
    folder: Path,
    loggers: list[Logger],
    ckpt_path: Path | None = None,
) -> dict[str, float]:
    """Fit, resuming ``ckpt_path`` if given, then test the best checkpoint on every split; returns the metrics."""
    silence_lightning()
    stopwatch = Stopwatch()
    best, callbacks = make_callbacks(training, folder, stopwatch)
    trainer = pl.Trainer(
        accelerator=device.accelerator,
        precision=device.precision,
        **_rank_options(device),
        **_debug_options(device, folder),
        max_epochs=training.max_epochs,
        callbacks=callbacks,
        plugins=[AtomicCheckpointIO()],
        logger=loggers or False,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        deterministic=True,
    )
    if device.overfit_batches:
        for module in task.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
    if device.compile:
        task.network.compile()  # in place: checkpoints are those of the plain network
    with data.engine.limits(folder):  # such as outputs that ranking metrics sort
        try:
            trainer.fit(task, datamodule=data, ckpt_path=ckpt_path, weights_only=True)
        except SystemExit:  # Lightning exits on KeyboardInterrupt
            raise KeyboardInterrupt from None
        epochs = trainer.current_epoch
        if best.best_model_score is None or not best.best_model_score.isfinite():
            raise SharedError(
                f"training diverged: {training.monitor} was never finite; "
                f"lower training.learning_rate={training.learning_rate}"
            )
        trainer.test(task, datamodule=data, ckpt_path=best.best_model_path, weights_only=True, verbose=False)
    if trainer.is_global_zero:
        task.class_results.write(folder, data.classification.class_names)
        if task.class_results.thresholds:
            add_thresholds(Path(best.best_model_path), task.class_results.thresholds)
    return {name: float(value) for name, value in trainer.callback_metrics.items()} | {
        "epochs": epochs,
        "parameters": sum(parameter.numel() for parameter in task.parameters()),
        "seconds/precompute": data.seconds,
        "seconds/epoch": seconds_per_epoch(folder),
        "seconds/inference": stopwatch.inference,
        "seconds/inference_all": stopwatch.inference_all,
        **memory_peak.metrics(),
    }


def test_metrics(
    device: Device, engine: Engine, data: NodeDataModule | None, task: NodeTask, scratch: Path
) -> dict[str, float]:
    """Test a trained task on every split; returns the same metrics as the end of :func:`fit_and_test`.

    ``engine`` has the memory limit; ``data`` is None for a task that has its own rows.
    """
    silence_lightning()
    trainer = pl.Trainer(
        accelerator=device.accelerator,
        precision=device.precision,
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        deterministic=True,
    )
    with engine.limits(scratch):
        trainer.test(task, datamodule=data, verbose=False)
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


def seconds_per_epoch(folder: Path) -> float:
    """The mean over all epochs of a run, resumed ones included, without the first epoch, which warms up."""
    seconds = [row["seconds/epoch"] for row in Run(folder).epochs()]
    return statistics.fmean(seconds[1:] or seconds or [0.0])


def make_callbacks(training: Training, folder: Path, stopwatch: Stopwatch) -> tuple[ModelCheckpoint, list[Callback]]:
    """The callback that keeps the checkpoint to test, and all callbacks."""
    mode = "min" if is_minimised(training.monitor) else "max"
    best = BestCheckpoint(
        folder / CHECKPOINTS, filename="best", monitor=training.monitor, mode=mode, enable_version_counter=False
    )
    return best, [
        keep_sigterm_handler(),
        stopwatch,
        EpochLog(folder / EPOCHS, stopwatch),
        EpochProgress(training.max_epochs),
        ResumableEarlyStopping(training.monitor, mode=mode, patience=training.patience),
        best,
        LastCheckpoint(folder / CHECKPOINTS / "last.ckpt"),
    ]


def _debug_options(device: Device, folder: Path) -> dict[str, Any]:
    """The arguments of ``pl.Trainer`` that shorten or profile a run."""
    options: dict[str, Any] = {"overfit_batches": device.overfit_batches}
    if device.limit_batches:
        options |= {f"limit_{stage}_batches": device.limit_batches for stage in ("train", "val", "test")}
    if device.profiler:
        options["profiler"] = PROFILERS[device.profiler](dirpath=folder, filename="profile")
    return options


def _rank_options(device: Device) -> dict[str, Any]:
    """The arguments of ``pl.Trainer`` that depend on the ranks."""
    own = current_rank(device)
    if own.world_size == 1:
        return {"devices": 1}
    return {
        "devices": own.devices,
        "num_nodes": own.nodes,
        "strategy": DDPStrategy(cluster_environment=LightningEnvironment()),
        "use_distributed_sampler": False,
        "sync_batchnorm": uses_gpu(device),  # torch has no synchronised batch norm for CPUs
    }
