"""Checks before a run folder is created: settings against this machine, data, and the checkpoint to resume."""

from pathlib import Path

import torch

from sign.config.settings import Settings
from sign.errors import FieldError, SignError
from sign.graph.classification import NodeClassification
from sign.training.distributed import current_rank, world_size
from sign.training.task import SIGNTask


class CheckpointError(SignError):
    """A checkpoint that cannot be resumed."""


def check_settings(settings: Settings) -> None:
    """Check what does not depend on the data: the devices, and the rows per rank of a batch."""
    ranks, batch_size = current_rank(settings.device).world_size, settings.training.batch_size
    if settings.architecture.batch_norm and batch_size < 2 * ranks:
        advice = f"batch norm needs two rows on each of {ranks} ranks; raise it, or use model.batch_norm=false"
        raise FieldError("training.batch_size", batch_size, advice)
    if ranks != world_size():
        raise SignError("trainer.devices > 1: src/train.py launches the ranks; start the run with it")


def check_data(settings: Settings, classification: NodeClassification) -> None:
    """Check that a data set can be trained on with these settings."""
    for split in ("val", "test"):
        if not len(classification.labels[split]):
            raise SignError(f"{classification.name}: the {split} split is empty; use a smaller training split")
    if classification.multilabel and settings.training.monitor == "val/accuracy":
        raise SignError("training.monitor=val/accuracy: multilabel data have val/loss and val/micro_f1")
    rows, ranks = len(classification.labels["train"]), current_rank(settings.device).world_size
    if settings.architecture.batch_norm and rows < 2 * ranks:
        raise SignError(
            f"{classification.name}: {rows} training node{'s' * (rows != 1)}, but batch norm needs two on each of "
            f"{ranks} rank{'s' * (ranks != 1)}; use model.batch_norm=false"
        )


def check_checkpoint(file: Path, task: SIGNTask) -> None:
    """Raise CheckpointError if ``file`` is not a checkpoint of a task with the same network."""
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
        theirs = dict(saved["hyper_parameters"])
    except Exception as error:
        message = f"ckpt_path={file}: not a checkpoint of SIGN ({type(error).__name__})"
        raise CheckpointError(message) from error
    ours = dict(task.hparams)
    for name in ("features", "branches", "classes", "multilabel", "architecture"):
        if theirs.get(name) != ours[name]:
            raise CheckpointError(
                f"ckpt_path={file}: a checkpoint of another model: its {name} are "
                f"{theirs.get(name)}, here {ours[name]}; use the settings in its run's config.yaml"
            )
