"""What a graph is made of, when it was read and before it is built."""

from dataclasses import dataclass

from sign.graph.csr import Array, Floats
from sign.graph.features import Features


@dataclass(frozen=True, eq=False)
class Parts:
    """Edges by node numbers, features, labels and, unless they are still to be drawn, splits."""

    source: Array
    target: Array
    weights: Floats | None
    features: Features
    labels: Array
    classes: int
    splits: dict[str, Array] | None
