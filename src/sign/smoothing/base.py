"""The contract of a smoothing: a frozen description of how predictions are changed after training."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from sign.engines.base import Engine
from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.validation import Validated


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Scores of all nodes, one column per class, and the settings that were chosen on the validation nodes.

    ``validation`` is what they reach there: the accuracy, or the micro-F1 of multilabel data.
    """

    scores: Floats
    chosen: dict[str, Any]
    validation: float

    def __str__(self) -> str:
        chosen = " ".join(f"{name}={value}" for name, value in self.chosen.items())
        return f"{chosen} ({self.validation:.4f} on the validation nodes)"


@dataclass(frozen=True)
class Smoothing(Validated, ABC):
    """Changes the probabilities that a model gives to all nodes, by the graph and the labels of its training nodes."""

    enabled: ClassVar[bool] = True

    @abstractmethod
    def apply(self, graph: Graph, probabilities: Floats, engine: Engine) -> Smoothed:
        """Return the smoothed probabilities of all nodes; where settings have several values, the best are chosen."""


@dataclass(frozen=True)
class NoSmoothing(Smoothing):
    """Leave predictions as they are."""

    enabled: ClassVar[bool] = False

    def apply(self, graph: Graph, probabilities: Floats, engine: Engine) -> Smoothed:
        """Return the same probabilities."""
        return Smoothed(probabilities, {}, float("nan"))
