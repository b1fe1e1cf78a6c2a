"""The contract of a baseline: a frozen description of a network on a graph, and of the batches that train it.

Modules of systems import neither torch nor numba before a run: a wrong setting is reported at once.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from sign.datasets.base import Dataset
from sign.errors import FieldError
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.validation import Count, Probability, Validated, check_name

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network

Norm = Literal["none", "batch", "layer"]


@dataclass(frozen=True, kw_only=True)
class GraphModel(Validated, ABC):
    """A model that reads the graph itself instead of stored hops.

    ``name`` names its run folders, and ``title`` its rows in tables.
    """

    name: str
    title: str | None = None

    variant: ClassVar[str] = ""
    """What tells its run folders from those of the same system with another sampler."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_name(self.name)

    def check_dataset(self, dataset: Dataset) -> None:
        """Raise SignError if the model does not suit a data set; most do."""


@dataclass(frozen=True, kw_only=True)
class Baseline(GraphModel):
    """A system that the paper compares with: a network that is trained on the graph.

    All hidden layers have ``units`` units and ``dropout`` on their inputs; ``norm`` normalises their outputs.

    A system with ``first_product`` computes the product of its matrix with the features once, before training. Its
    first layer samples nothing.
    """

    units: Count
    dropout: Probability
    norm: Norm = "none"

    first_product: ClassVar[bool] = False

    @property
    def operator(self) -> Operator:
        """What its layers multiply with: the normalised adjacency of GCN, unless overridden."""
        return NormalizedAdjacency()

    @abstractmethod
    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network, for a training graph of ``nodes`` nodes."""

    @abstractmethod
    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Return the batches of the training graph, after any preprocessing that depends on the seed."""


def check_layers(name: str, sizes: list[int]) -> None:
    """Raise a FieldError unless there is a number for at least one layer."""
    if not sizes:
        raise FieldError(name, sizes, "must have one number per layer, such as [25,10]")
