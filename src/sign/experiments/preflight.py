"""Checks before a run folder is created: settings against this machine, data, and the checkpoint to resume."""

from pathlib import Path

import numpy as np
import torch

from sign.config.defaults import automatic
from sign.config.settings import Settings
from sign.errors import FieldError, SignError
from sign.graph.classification import NodeClassification
from sign.runs import SCORES
from sign.system.program import command_line
from sign.training.distributed import current_rank, world_size
from sign.training.node_task import NodeTask


class CheckpointError(SignError):
    """A checkpoint that cannot be resumed."""


def check_settings(settings: Settings) -> None:
    """Check what does not depend on the data: the devices, and the rows per rank of a batch.

    The latter is checked only when no setting is ``auto`` any more.
    """
    ranks = current_rank(settings.device).world_size
    known = not automatic(settings.config)
    if known and _batch_norm_of_rows(settings) and (batch_size := settings.training.batch_size) < 2 * ranks:
        advice = f"batch norm needs two rows on each of {ranks} ranks; raise it, or use model.batch_norm=false"
        raise FieldError("training.batch_size", batch_size, advice)
    if ranks != world_size():
        raise SignError(f"trainer.devices > 1: start the run with {command_line('train')}, which launches the ranks")


def check_data(settings: Settings, classification: NodeClassification) -> None:
    """Check that a data set can be trained on with these settings."""
    for split in ("val", "test"):
        if not len(classification.labels[split]):
            raise SignError(f"{classification.name}: the {split} split is empty; use a smaller training split")
    metrics = validation_metrics(classification)
    for name, metric in (("training.monitor", settings.training.monitor), ("search.metric", settings.search_metric)):
        if metric not in metrics:
            title = SCORES[metric.removeprefix("val/")]
            raise SignError(
                f"{name}={metric}: {title} is not defined for the validation labels of {classification.name}; "
                f"choose one of {', '.join(metrics)}"
            )
    if settings.training.stages > 1 and classification.multilabel:
        rule = f"{classification.name} is multilabel, so no class of a node is the predicted one; use training.stages=1"
        raise FieldError("training.stages", settings.training.stages, rule)
    rows, ranks = len(classification.labels["train"]), current_rank(settings.device).world_size
    if _batch_norm_of_rows(settings) and rows < 2 * ranks:
        raise SignError(
            f"{classification.name}: {rows} training node{'s' * (rows != 1)}, but batch norm needs two on each of "
            f"{ranks} rank{'s' * (ranks != 1)}; use model.batch_norm=false"
        )


def _batch_norm_of_rows(settings: Settings) -> bool:
    """Whether every rank needs two rows; batches of a baseline have the neighbours of their nodes, too."""
    return settings.baseline is None and settings.architecture.needs_two_rows


def validation_metrics(classification: NodeClassification) -> list[str]:
    """The metrics that are defined for the labels of the validation split.

    A ROC-AUC needs a class that some nodes have and others do not, average precision a positive node of two classes
    or of a label. The micro-F1 of single labels is their accuracy.
    """
    labels = classification.labels["val"]
    if classification.multilabel:
        positives = (labels > 0).sum(axis=0)
        both, precision = bool(((positives > 0) & (positives < len(labels))).any()), bool(positives.any())
    else:
        both, precision = len(np.unique(labels)) > 1, classification.classes == 2 and bool((labels == 1).any())
    names = ["loss", "micro_f1" if classification.multilabel else "accuracy", "macro_f1"]
    return [f"val/{name}" for name in (*names, *["roc_auc"] * both, *["average_precision"] * precision)]


def check_checkpoint(file: Path, task: NodeTask) -> None:
    """Raise CheckpointError if ``file`` is not a checkpoint of a task with the same network."""
    try:
        saved = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
        theirs = dict(saved["hyper_parameters"])
    except Exception as error:
        message = f"ckpt_path={file}: not a checkpoint of SIGN ({type(error).__name__})"
        raise CheckpointError(message) from error
    ours = dict(task.hparams)
    for name in task.same_network:
        if theirs.get(name) != ours[name]:
            raise CheckpointError(
                f"ckpt_path={file}: a checkpoint of another model: its {name} are "
                f"{theirs.get(name)}, here {ours[name]}; use the settings in its run's config.yaml"
            )
