"""Rows of hops in memory or on a device, and the batches that are cut from them."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor

from sign.training.hop_rows import HopRows
from sign.training.read_ahead import read_ahead


class Batch(NamedTuple):
    """Rows with their labels, and the number of rows of the batch over all ranks."""

    rows: Tensor
    labels: Tensor
    total: int


class StoredRows(Protocol):
    """Wide rows: one per node, with its rows of all hops side by side. Those on disk are read a slice at a time."""

    @property
    def columns(self) -> int:
        """Columns of a wide row."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def __getitem__(self, part: slice) -> Tensor:
        """Return some wide rows."""

    def own(self, part: slice) -> Self:
        """Return the rows in ``part`` alone, as one rank evaluates them."""


def rank_slice(rows: int, rank: int, world_size: int) -> slice:
    """The part of ``rows`` rows that belongs to ``rank``."""
    return slice(rows * rank // world_size, rows * (rank + 1) // world_size)


class Rows:
    """Wide rows as one matrix in memory."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    @classmethod
    def load(cls, source: HopRows) -> Self:
        """Copy rows from the store into memory."""
        matrix = torch.empty(len(source), source.columns)
        for part in source.blocks():
            source.read(part, matrix[part].numpy())
        return cls(matrix)

    @property
    def columns(self) -> int:
        """Columns of a wide row."""
        return self.matrix.shape[1]

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, index: slice | Tensor) -> Tensor:
        """The wide rows at ``index``, a whole batch at once."""
        return self.matrix[index] if isinstance(index, slice) else self.matrix.index_select(0, index)

    def own(self, part: slice) -> Self:
        """The rows in ``part`` alone, without a copy."""
        return type(self)(self.matrix[part])


class RowLoader:
    """Batches of rows and labels. ``order`` returns the order of an epoch; without it rows keep theirs.

    Batches are cut from the order of all rows, and each rank takes its part of every batch: the world size changes no
    batch, except that a last batch with fewer than two rows per rank is merged into the one before it. Rows on disk
    have no other order than their own, and are read one batch ahead.
    """

    def __init__(
        self,
        rows: StoredRows | Tensor,
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
        if order is None:
            on_disk = not isinstance(self.rows, Rows | Tensor)
            yield from read_ahead(self._in_order, self.batches) if on_disk else map(self._in_order, self.batches)
            return
        for batch in self.batches:
            total = batch.stop - batch.start
            index = order[batch][rank_slice(total, self.rank, self.world_size)]
            yield Batch(self.rows[index], self.labels[index], total)  # type: ignore[index]

    def _in_order(self, batch: slice) -> Batch:
        return Batch(self.rows[batch], self.labels[batch], batch.stop - batch.start)
