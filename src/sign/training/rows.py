"""Rows of stored hops, and the batches that are cut from them."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from sign.graph.csr import Array
from sign.graph.feature_scaling import scale_hop_rows

COPY_ROWS = 1 << 14  # rows that are copied from disk at a time


class Batch(NamedTuple):
    """Rows with their labels, and the number of rows of the batch over all ranks."""

    rows: Tensor
    labels: Tensor
    total: int


def rank_slice(rows: int, rank: int, world_size: int) -> slice:
    """The part of ``rows`` rows that belongs to ``rank``."""
    return slice(rows * rank // world_size, rows * (rank + 1) // world_size)


class Rows:
    """The rows of one split: one wide row per node, with its row of every hop side by side.

    Held as one contiguous matrix when ``in_memory``, else gathered from the memory maps batch by batch.
    """

    def __init__(self, arrays: list[Array], rows: list[Array], scaling: str, in_memory: bool) -> None:
        self.arrays, self.rows, self.scaling = arrays, rows, scaling
        self.matrix: Tensor | None = None
        if in_memory:
            matrix = torch.empty(len(self), len(arrays) * arrays[0].shape[1])
            for start in range(0, len(self), COPY_ROWS):
                part = slice(start, start + COPY_ROWS)
                matrix[part] = self[part]
            self.matrix = matrix

    def __len__(self) -> int:
        return len(self.rows[0])

    def __getitem__(self, index: slice | Tensor) -> Tensor:
        """The wide rows at ``index``, a whole batch at once."""
        if self.matrix is not None:
            return self.matrix[index]
        selected = index if isinstance(index, slice) else index.numpy()
        count = len(self.rows[0][selected])
        wide = np.empty((count, len(self.arrays), self.arrays[0].shape[1]), np.float32)
        for branch, (array, rows) in enumerate(zip(self.arrays, self.rows, strict=True)):
            wide[:, branch] = array[rows[selected]]
            scale_hop_rows(wide[:, branch], self.scaling)
        return torch.from_numpy(wide.reshape(count, -1))


class RowLoader:
    """Batches of rows and labels. ``order`` returns the order of an epoch; without it rows keep theirs.

    Batches are cut from the order of all rows, and each rank takes its part of every batch: the world size changes no
    batch, except that a last batch with fewer than two rows per rank is merged into the one before it.
    """

    def __init__(
        self,
        rows: Rows | Tensor,
        labels: Tensor,
        batch_size: int,
        order: Callable[[], Tensor] | None = None,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        self.rows, self.labels, self.batch_size = rows, labels, batch_size
        self.order, self.rank, self.world_size = order, rank, world_size

    @cached_property
    def batches(self) -> list[slice]:
        """The batches; batch norm needs two rows per rank."""
        starts = list(range(0, len(self.rows), self.batch_size)) or [0]
        if len(starts) > 1 and len(self.rows) - starts[-1] < 2 * self.world_size:
            starts.pop()
        return [slice(*bounds) for bounds in pairwise([*starts, len(self.rows)])]

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        order = self.order() if self.order else None
        for batch in self.batches:
            total = batch.stop - batch.start
            index = batch if order is None else order[batch][rank_slice(total, self.rank, self.world_size)]
            yield Batch(self.rows[index], self.labels[index], total)
