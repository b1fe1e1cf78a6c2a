"""What training needs of its data and of the checkpoint that it resumes, checked before a run folder is made."""

from pathlib import Path

import torch

from sign.config.settings import Settings
from sign.errors import FieldError, SignError
from sign.graph.classification import NodeClassification
from sign.training.distributed import processes
from sign.training.task import SIGNTask


def check_data(settings: Settings, classification: NodeClassification) -> None:
    """What training needs of a classification, beyond what makes it one."""
    for split in ("val", "test"):
        if not len(classification.labels[split]):
            raise SignError(
                f"{classification.name}: the {split} split is empty; ask for smaller training splits"
            )
    if classification.multilabel and settings.training.monitor == "val/accuracy":
        raise SignError("training.monitor=val/accuracy: multilabel data have val/loss and val/micro_f1")
    world = processes(settings.device)
    if settings.architecture.batch_norm:
        check_batch_norm(classification, world, settings.training.batch_size)


def check_batch_norm(classification: NodeClassification, processes: int, batch_size: int) -> None:
    """Batch norm in training needs two rows of every batch in each process."""
    without, rows = "(model.batch_norm=false does without it)", len(classification.labels["train"])
    if rows < 2 * processes:
        raise SignError(
            f"{classification.name}: {rows} training node{'s' * (rows != 1)}, but batch norm needs two in each of "
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
