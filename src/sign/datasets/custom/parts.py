"""The parts of a graph that were read from files, before it is built."""

from dataclasses import dataclass

from sign.graph.csr import Array, Floats
from sign.graph.features import Features


@dataclass(frozen=True, eq=False)
class GraphParts:
    """Edges as node indices, features, labels and, unless they are drawn later, splits."""

    source: Array
    target: Array
    weights: Floats | None
    features: Features
    labels: Array
    classes: int
    splits: dict[str, Array] | None
