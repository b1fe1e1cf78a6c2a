"""Rows of hops in memory or on a device, and the batches that are cut from them."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Protocol, Self

import torch
from torch import Tensor

from sign.models.networks.sparse import MixedRows, WideRows
from sign.training.batch import Batch
from sign.training.device import copied_ahead
from sign.training.hop_rows import HopRows
from sign.training.read_ahead import read_ahead

CPU = torch.device("cpu")


class StoredRows(Protocol):
    """Wide rows: one per node, with its rows of all hops side by side. Those on disk are read a slice at a time.

    :class:`Rows` and :class:`sign.models.networks.sparse.MixedRows` are in memory.
    """

    @property
    def columns(self) -> int:
        """Columns of a wide row."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def __getitem__(self, part: slice) -> WideRows:
        """Return some wide rows."""

    def own(self, part: slice) -> Self:
        """Return the rows in ``part`` alone, as one rank evaluates them."""


def rank_slice(rows: int, rank: int, world_size: int) -> slice:
    """The part of ``rows`` rows that belongs to ``rank``."""
    return slice(rows * rank // world_size, rows * (rank + 1) // world_size)


class Rows:
    """Wide rows as one matrix in memory or on a device, whose type may be narrower than that of the batches."""

    def __init__(self, matrix: Tensor) -> None:
        self.matrix = matrix

    @classmethod
    def load(cls, source: HopRows, device: torch.device = CPU, dtype: torch.dtype = torch.float32) -> Self:
        """Copy rows from the store to a device."""
        matrix = torch.empty(len(source), source.columns, dtype=dtype, device=device)
        for part in source.blocks():
            if device == CPU and dtype == torch.float32:
                source.read(part, matrix[part].numpy())
            else:
                matrix[part] = source[part].to(dtype)
        return cls(matrix)

    @property
    def columns(self) -> int:
        """Columns of a wide row."""
        return self.matrix.shape[1]

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, index: slice | Tensor) -> Tensor:
        """The wide rows at ``index``, a whole batch at once, as float32."""
        rows = self.matrix[index] if isinstance(index, slice) else self.matrix.index_select(0, index)
        return rows.float()

    def own(self, part: slice) -> Self:
        """The rows in ``part`` alone, without a copy."""
        return type(self)(self.matrix[part])


class RowLoader:
    """Batches of rows and labels. ``order`` returns the order of an epoch; without it rows keep theirs.

    Batches are cut from the order of all rows, and each rank takes its part of every batch: the world size changes no
    batch, except that a last batch with fewer than two rows per rank is merged into the one before it. Rows on disk
    have no other order than their own, and are read one batch ahead. Batches are on ``device`` if it is a GPU: gathered
    there from rows that it holds, else copied ahead.
    """

    def __init__(
        self,
        rows: StoredRows | Tensor,
        labels: Tensor,
        batch_size: int,
        order: Callable[[], Tensor] | None = None,
        rank: int = 0,
        world_size: int = 1,
        device: torch.device = CPU,
    ) -> None:
        self.rows, self.labels, self.batch_size = rows, labels, batch_size
        self.order, self.rank, self.world_size, self.device = order, rank, world_size, device

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
        held = self.rows.matrix.device if isinstance(self.rows, Rows | MixedRows) else CPU
        batches = self._batches(held)
        return batches if held == self.device or self.device == CPU else copied_ahead(batches, len(self), self.device)

    def _batches(self, device: torch.device) -> Iterator[Batch]:
        """The batches of an epoch on the device of the rows; labels and order are copied there once."""
        labels = self.labels.to(device)

        def in_order(batch: slice) -> Batch:
            return Batch(self.rows[batch], labels[batch], batch.stop - batch.start)

        if self.order is None:
            on_disk = not isinstance(self.rows, Rows | MixedRows | Tensor)
            yield from read_ahead(in_order, self.batches) if on_disk else map(in_order, self.batches)
            return
        order = self.order().to(device)
        for batch in self.batches:
            total = batch.stop - batch.start
            index = order[batch][rank_slice(total, self.rank, self.world_size)]
            yield Batch(self.rows[index], labels.index_select(0, index), total)  # type: ignore[index]
