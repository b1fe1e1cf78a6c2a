"""Feature scaling before diffusion, and scaling of hop rows before the network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.system import arrays
from sign.system.hashing import digest

PARAMETERS = ("mean", "deviation")


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """A scaling of node features whose parameters are fitted on the training nodes.

    ``row_sum`` divides each row by the sum of its absolute values; ``standardize`` gives every column mean 0 and
    variance 1 over the training nodes (a constant column becomes 0).
    """

    method: str
    mean: Floats | None = None
    deviation: Floats | None = None

    @classmethod
    def fit(cls, method: str, graph: Graph) -> "FeatureScaling":
        """Fit the scaling on the training nodes of ``graph``."""
        if method != "standardize":
            return cls(method)
        mean = _moment(graph, np.zeros(graph.features.shape[1]), 1)
        deviation = np.sqrt(_moment(graph, mean, 2))
        deviation[deviation == 0] = 1
        return cls(method, mean.astype(np.float32), deviation.astype(np.float32))

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "FeatureScaling":
        """Return the scaling that :meth:`to_plain` described."""
        mean, deviation = (values[name] for name in PARAMETERS)
        if mean is None:
            return cls(values["method"])
        return cls(values["method"], np.array(mean, np.float32), np.array(deviation, np.float32))

    def to_plain(self) -> dict[str, Any]:
        """Return the method and its parameters as plain values, which a checkpoint keeps."""
        plain = {name: None if (values := getattr(self, name)) is None else values.tolist() for name in PARAMETERS}
        return {"method": self.method, **plain}

    @property
    def fingerprint(self) -> str:
        """The method and, if there are any, a hash of its parameters."""
        return self.method if self.mean is None else f"{self.method}-{digest(self.mean, self.deviation)}"

    def apply(self, features: Array, columns: slice = slice(None)) -> Floats:
        """Return ``columns`` of the scaled rows, as float32."""
        rows = features[:, columns].astype(np.float32)
        if self.method == "row_sum":
            sums = np.abs(features.astype(np.float32, copy=False)).sum(axis=1, keepdims=True)
            rows /= np.where(sums > 0, sums, 1)
        elif self.mean is not None and self.deviation is not None:
            rows -= self.mean[columns]
            rows /= self.deviation[columns]
        return rows


def _moment(graph: Graph, center: Array, power: int) -> Array:
    """Mean of (x - center) ** power over the training nodes, block by block in double precision."""
    total = np.zeros_like(center)
    for _, rows in arrays.gather(graph.features, graph.train):
        total += ((rows.astype(np.float64) - center) ** power).sum(axis=0)
    return total / len(graph.train)


def scale_hop_rows(rows: Floats, method: str) -> None:
    """Scale the rows of one hop in place: ``l2`` gives each row unit length (zero rows are unchanged)."""
    if method == "l2":
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        rows /= np.where(norms > 0, norms, 1)
