"""The features of a graph as they are diffused and stored: scaled, in blocks, and not rounded to zero."""

from dataclasses import dataclass

import numpy as np

from sign.errors import SignError
from sign.graph.classification import Origin
from sign.graph.csr import Array
from sign.store.store import remedy
from sign.system import arrays


@dataclass(frozen=True)
class ScaledFeatures:
    """The features of a graph, scaled as they are read."""

    origin: Origin

    @property
    def shape(self) -> tuple[int, ...]:
        """Nodes × columns."""
        return self.origin.graph.features.shape

    def __getitem__(self, part: tuple[slice, slice]) -> Array:
        rows, columns = part
        features = self.origin.graph.features
        values = self.origin.scaling.apply(features[rows], columns)
        if isinstance(features, np.ndarray):
            arrays.release(features[rows])
        return values


def check_representable(values: Array, dtype: str, nodes: slice | Array) -> None:
    """Raise if a row that is not zero would be zero in the type of the store."""
    zero = float(np.finfo(dtype).smallest_subnormal) / 2  # up to here, values round to zero
    largest = np.abs(values).max(axis=1)
    if len(lost := np.flatnonzero((largest > 0) & (largest <= zero))):
        node = nodes.start + lost[0] if isinstance(nodes, slice) else nodes[lost[0]]
        raise SignError(
            f"the features: those of node {node} are below {zero:.1g}, which is zero in {dtype}, the type of the "
            f"store; {remedy(dtype)}"
        )
