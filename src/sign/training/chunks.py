"""Shuffling by chunks: the order of an epoch in which a file of rows can be read in large pieces."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sign.graph.csr import Array

CHUNK_BYTES = 1 << 21  # of float32 rows: a disk reads such pieces as fast as the whole file
MIXED_CHUNKS = 32  # chunks that are in memory together


@dataclass(frozen=True)
class Chunks:
    """``rows`` rows of a file in chunks of ``chunk_rows``, the last of which may be shorter.

    An epoch takes the chunks in random order, in groups of about ``MIXED_CHUNKS``. The rows of each chunk of a group
    are permuted, and spread evenly over the group: every batch takes equal parts of all its chunks.
    """

    rows: int
    chunk_rows: int

    @classmethod
    def of(cls, rows: int, columns: int) -> Self:
        """The chunks of float32 rows with this number of columns."""
        few = -(-rows // MIXED_CHUNKS)  # there are as many chunks as are mixed, if there are as many rows
        return cls(rows, max(1, min(CHUNK_BYTES // (4 * columns), few)))

    def bounds(self, chunk: int) -> tuple[int, int]:
        """The first row of a chunk, and the one after its last."""
        return chunk * self.chunk_rows, min((chunk + 1) * self.chunk_rows, self.rows)

    def epoch(self, seed: int, epoch: int) -> "ChunkOrder":
        """The order of an epoch, which depends on nothing else."""
        rng = np.random.default_rng([seed, epoch])
        chunks = rng.permutation(-(-self.rows // self.chunk_rows))
        groups = np.array_split(chunks, max(1, -(-len(chunks) // MIXED_CHUNKS)))
        order = [self._mixed(group, rng) for group in groups]
        return ChunkOrder(self, groups, np.concatenate(order))

    def _mixed(self, group: Array, rng: np.random.Generator) -> Array:
        """The rows of some chunks: of each in random order, and evenly spread."""
        rows, places = [np.empty(0, np.int64)], [np.empty(0)]
        for start, stop in map(self.bounds, group.tolist()):
            rows.append(start + rng.permutation(stop - start))
            places.append((np.arange(stop - start) + 0.5) / (stop - start))
        return np.concatenate(rows)[np.argsort(np.concatenate(places), kind="stable")]


@dataclass(frozen=True, eq=False)
class ChunkOrder:
    """The groups of an epoch, as numbers of chunks, and all rows of the file in the order of the groups."""

    chunks: Chunks
    groups: list[Array]
    order: Array

    def for_ranks(self, batches: Sequence[slice], world_size: int) -> Array:
        """The order with the rows of each batch sorted by the place of their chunk in its group, for several ranks.

        The part of a rank then lies in the same chunks for every batch of a group, and ranks read disjoint chunks but
        for those at the border of two parts.
        """
        if world_size == 1:
            return self.order
        places = np.empty(sum(map(len, self.groups)))
        for group in self.groups:
            places[group] = np.arange(len(group)) / len(group)
        order = self.order.copy()
        for batch in batches:
            own = order[batch]
            order[batch] = own[np.argsort(places[own // self.chunks.chunk_rows], kind="stable")]
        return order
