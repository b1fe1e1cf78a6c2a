"""Splits that are drawn by the ids of nodes: a node stays in its split when the graph grows."""

from dataclasses import dataclass

import numpy as np

from sign.graph.csr import Array
from sign.graph.node_digests import digest_ids


@dataclass(frozen=True)
class DrawnSplits:
    """Fractions of the labelled nodes, and the seed that they are drawn with."""

    seed: int
    train: float
    val: float

    def of(self, ids: Array) -> Array:
        """Return the split of each node, by its position in ``SPLITS``."""
        from sign.graph.digest_kernels import draw_uniform

        uniform = np.empty((len(ids), 1))
        draw_uniform(digest_ids(ids, len(ids)), np.uint64(self.seed), uniform)
        return np.searchsorted([self.train, self.train + self.val], uniform[:, 0], side="right")
