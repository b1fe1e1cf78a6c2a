"""Settings of training, devices and scaling. Free of torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sign.errors import FieldError
from sign.validation import Count, Probability, Range, Validated

JobType = Literal["train", "search", "reproduce"]
ValidationMetric = Literal[
    "val/loss", "val/accuracy", "val/micro_f1", "val/macro_f1", "val/roc_auc", "val/average_precision"
]
RANKING = ("val/roc_auc", "val/average_precision")  # need the scores of all nodes, not only sums over batches


def is_minimised(metric: str) -> bool:
    """Whether a lower value of a metric is better: of the loss only."""
    return metric == "val/loss"


@dataclass(frozen=True)
class Training(Validated):
    """Adam on minibatches, stopped when ``monitor`` has not improved for ``patience`` epochs.

    ``threshold`` is the probability above which a label of multilabel data is predicted by the final test: 0.5, or
    ``validation`` for one per label, chosen on the validation split. ``label_dropout`` is the probability that a
    training row has zeros in its label hops.

    ``rows`` says where the rows of hops are held, and ``shuffle`` how those of an epoch are: each for itself, or in
    chunks, as a disk reads them. ``auto`` stands for what suits their size: :mod:`sign.training.placement`.

    With several ``stages``, each stage after the first also trains on the nodes of which the stage before it predicted
    a class with at least the probability ``confidence``.
    """

    learning_rate: Annotated[float, Range(0)]
    weight_decay: Annotated[float, Range(0)]
    batch_size: Count
    max_epochs: Count
    patience: Count
    monitor: ValidationMetric
    threshold: float | str = 0.5
    label_dropout: Probability = 0.0
    stages: Annotated[int, Range(1, 99)] = 1
    confidence: Annotated[float, Range(0, 1)] = 0.9
    shuffle: Literal["auto", "rows", "chunks"] = "auto"
    rows: Literal["auto", "device", "memory", "disk"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold not in (0.5, "validation"):
            raise FieldError("threshold", self.threshold, "choose one of 0.5, validation")


@dataclass(frozen=True)
class Device(Validated):
    """The hardware, precision and number of ranks of training.

    ``devices`` is the number of ranks on each of ``num_nodes`` machines; None: as many as were launched by
    torchrun or SLURM, or one per GPU. ``limit_batches``, ``overfit_batches`` and ``profiler`` are those of Lightning's
    ``Trainer``, for trying a configuration.
    """

    accelerator: Literal["auto", "cpu", "gpu", "mps"]
    precision: Literal["32-true", "16-mixed", "bf16-mixed"]
    compile: bool = False
    devices: Annotated[int | None, Range(1)] = 1
    num_nodes: Annotated[int | None, Range(1)] = 1
    limit_batches: Annotated[int | None, Range(1)] = None
    overfit_batches: Annotated[int, Range(0)] = 0
    profiler: Literal["simple", "advanced"] | None = None

    @property
    def several(self) -> bool:
        """Whether more than one rank is requested."""
        return self.devices != 1 or self.num_nodes not in (None, 1)


@dataclass(frozen=True)
class Scaling(Validated):
    """Scaling of the features before diffusion, and of the rows of each hop before the network."""

    features: Literal["none", "row_sum", "standardize"]
    hops: Literal["none", "l2"]
