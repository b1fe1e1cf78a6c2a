"""Settings of the network, its training, the devices and the scaling of rows. Free of torch."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sign.validation import Count, Range, Validated

JobType = Literal["train", "search", "reproduce"]


@dataclass(frozen=True)
class Training(Validated):
    """Adam on minibatches, stopped when the validation loss has not improved for ``patience`` epochs."""

    learning_rate: Annotated[float, Range(0)]
    weight_decay: Annotated[float, Range(0)]
    batch_size: Count
    max_epochs: Count
    patience: Count
    monitor: Literal["val/loss", "val/accuracy", "val/micro_f1"]


@dataclass(frozen=True)
class Device(Validated):
    """Where a network is trained, in which precision, and by how many processes.

    ``devices`` on each of ``num_nodes`` machines; None: as many as torchrun or SLURM started, or as there are GPUs.
    """

    accelerator: Literal["auto", "cpu", "gpu", "mps"]
    precision: Literal["32-true", "16-mixed", "bf16-mixed"]
    compile: bool = False
    devices: Annotated[int | None, Range(1)] = 1
    num_nodes: Annotated[int | None, Range(1)] = 1

    @property
    def several(self) -> bool:
        """Whether more than one process is asked for."""
        return self.devices != 1 or self.num_nodes not in (None, 1)


@dataclass(frozen=True)
class Scaling(Validated):
    """What is done to the features before diffusion, and to the rows of each hop before the network."""

    features: Literal["none", "row_sum", "standardize"]
    hops: Literal["none", "l2"]
