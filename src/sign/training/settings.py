"""Settings of training, devices and scaling. Free of torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sign.validation import Count, Range, Validated

JobType = Literal["train", "search", "reproduce"]


@dataclass(frozen=True)
class Training(Validated):
    """Adam on minibatches, stopped when ``monitor`` has not improved for ``patience`` epochs."""

    learning_rate: Annotated[float, Range(0)]
    weight_decay: Annotated[float, Range(0)]
    batch_size: Count
    max_epochs: Count
    patience: Count
    monitor: Literal["val/loss", "val/accuracy", "val/micro_f1"]


@dataclass(frozen=True)
class Device(Validated):
    """The hardware, precision and number of ranks of training.

    ``devices`` is the number of ranks on each of ``num_nodes`` machines; None: as many as were launched by
    torchrun or SLURM, or one per GPU.
    """

    accelerator: Literal["auto", "cpu", "gpu", "mps"]
    precision: Literal["32-true", "16-mixed", "bf16-mixed"]
    compile: bool = False
    devices: Annotated[int | None, Range(1)] = 1
    num_nodes: Annotated[int | None, Range(1)] = 1

    @property
    def several(self) -> bool:
        """Whether more than one rank is requested."""
        return self.devices != 1 or self.num_nodes not in (None, 1)


@dataclass(frozen=True)
class Scaling(Validated):
    """Scaling of the features before diffusion, and of the rows of each hop before the network."""

    features: Literal["none", "row_sum", "standardize"]
    hops: Literal["none", "l2"]
