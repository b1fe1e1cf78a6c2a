"""Scaling in two places: the features before diffusion, the rows of a hop before the network."""

from dataclasses import dataclass

import numpy as np

from sign.graph import Graph
from sign.sparse import Array, Floats, digest


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
        rows = graph.features[graph.train].astype(np.float64)
        deviation = rows.std(axis=0)
        deviation[deviation == 0] = 1
        return cls(how, rows.mean(axis=0).astype(np.float32), deviation.astype(np.float32))

    @property
    def fingerprint(self) -> str:
        """What the scaled features depend on, beside the features."""
        return self.how if self.mean is None else f"{self.how}-{digest(self.mean, self.deviation)}"

    def apply(self, features: Array) -> Floats:
        """Scaled rows as float32."""
        rows = features.astype(np.float32)
        if self.how == "row_sum":
            sums = np.abs(rows).sum(axis=1, keepdims=True)
            rows /= np.where(sums > 0, sums, 1)
        elif self.mean is not None and self.deviation is not None:
            rows -= self.mean
            rows /= self.deviation
        return rows


def scale_hop_rows(rows: Floats, how: str) -> None:
    """Scale the rows of one hop in place: ``l2`` gives each row length one (rows of zeros stay)."""
    if how == "l2":
        norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        rows /= np.where(norms > 0, norms, 1)
