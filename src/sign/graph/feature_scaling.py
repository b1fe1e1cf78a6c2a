"""Scaling in two places: the features before diffusion, the rows of a hop before the network."""

from dataclasses import dataclass

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.system import arrays
from sign.system.hashing import digest


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """A scaling of features that is fixed by the training nodes alone.

    ``row_sum`` divides each row by the sum of its absolute values; ``standardize`` makes every column
    of the training nodes have mean 0 and variance 1 (a constant column becomes 0).
    """

    how: str
    mean: Floats | None = None
    deviation: Floats | None = None

    @classmethod
    def fit(cls, how: str, graph: Graph) -> "FeatureScaling":
        """The scaling of ``graph``, fitted on its training nodes."""
        if how != "standardize":
            return cls(how)
        mean = _mean(graph, np.zeros(graph.features.shape[1]), 1)
        deviation = np.sqrt(_mean(graph, mean, 2))
        deviation[deviation == 0] = 1
        return cls(how, mean.astype(np.float32), deviation.astype(np.float32))

    @property
    def fingerprint(self) -> str:
        """What the scaled features depend on, beside the features."""
        return self.how if self.mean is None else f"{self.how}-{digest(self.mean, self.deviation)}"

    def apply(self, features: Array, columns: slice = slice(None)) -> Floats:
        """Columns of the scaled rows, as float32."""
        rows = features[:, columns].astype(np.float32)
        if self.how == "row_sum":
            sums = np.abs(features.astype(np.float32, copy=False)).sum(axis=1, keepdims=True)
            rows /= np.where(sums > 0, sums, 1)
        elif self.mean is not None and self.deviation is not None:
            rows -= self.mean[columns]
            rows /= self.deviation[columns]
        return rows


def _mean(graph: Graph, center: Array, power: int) -> Array:
    """Mean of (x - center) ** power over the training nodes, block by block in double precision."""
    total = np.zeros_like(center)
    for _, rows in arrays.gather(graph.features, graph.train):
        total += ((rows.astype(np.float64) - center) ** power).sum(axis=0)
    return total / len(graph.train)


def scale_hop_rows(rows: Floats, how: str) -> None:
    """Scale the rows of one hop in place: ``l2`` gives each row length one (rows of zeros stay)."""
    if how == "l2":
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        rows /= np.where(norms > 0, norms, 1)
