"""Training batches of a row file that does not fit into memory."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from sign.graph.csr import Array
from sign.training.batch import Batch
from sign.training.chunks import ChunkOrder
from sign.training.file_rows import FileRows
from sign.training.read_ahead import read_ahead
from sign.training.rows import CPU, RowLoader, rank_slice


class ChunkLoader(RowLoader):
    """Batches of a row file, shuffled by chunks: one group of chunks is mixed while a thread reads the next.

    Two groups are in memory. The batches are those of a :class:`sign.training.rows.RowLoader` with the same order.

    Parameters
    ----------
    rows
        The row file.
    labels
        The labels in the order of the file.
    batch_size
        Rows per step, of all ranks together.
    epoch_order
        Returns the order of the chunks in the current epoch.
    rank, world_size
        The part of each batch that is read.
    device
        Where batches are copied ahead if it is a GPU.
    """

    rows: FileRows

    def __init__(
        self,
        rows: FileRows,
        labels: Tensor,
        batch_size: int,
        epoch_order: Callable[[], ChunkOrder],
        rank: int = 0,
        world_size: int = 1,
        device: torch.device = CPU,
    ) -> None:
        super().__init__(rows, labels, batch_size, None, rank, world_size, device)
        self.epoch_order = epoch_order

    def _batches(self, device: torch.device) -> Iterator[Batch]:
        plan = self.epoch_order()
        own = self._own_rows(plan)
        groups = _Groups(self.rows, plan, np.concatenate(own))
        for rows, batch in zip(own, self.batches, strict=True):
            index = torch.from_numpy(rows)
            yield Batch(groups.take(rows), self.labels.index_select(0, index), batch.stop - batch.start)

    def _own_rows(self, plan: ChunkOrder) -> list[Array]:
        """The rows of each batch that belong to this rank."""
        order = plan.for_ranks(self.batches, self.world_size)
        parts = [order[batch] for batch in self.batches]
        return [part[rank_slice(len(part), self.rank, self.world_size)] for part in parts]


class _Groups:
    """The groups of chunks of an epoch, of which those chunks are read that hold some ``needed`` row.

    Rows are taken in the order of the groups, so that each is read once.
    """

    def __init__(self, rows: FileRows, plan: ChunkOrder, needed: Array) -> None:
        self.rows, self.chunks = rows, plan.chunks
        count = sum(map(len, plan.groups))
        read = np.zeros(count, bool)
        read[needed // self.chunks.chunk_rows] = True
        chosen = [np.sort(group[read[group]]) for group in plan.groups]
        self.groups = [group for group in chosen if len(group)]
        self.group_of, self.place_of = np.empty(count, np.int64), np.empty(count, np.int64)
        for number, group in enumerate(self.groups):
            self.group_of[group], self.place_of[group] = number, np.arange(len(group))
        most = max(map(len, self.groups), default=0) * self.chunks.chunk_rows
        self.buffers = [torch.empty(most, rows.columns) for _ in self.groups[:2]]
        self.values = read_ahead(self._read, range(len(self.groups)))
        self.current = -1

    def take(self, rows: Array) -> Tensor:
        """Copy some rows, which lie in the current group or after it."""
        chunk, inside = np.divmod(rows, self.chunks.chunk_rows)
        group, place = self.group_of[chunk], self.place_of[chunk] * self.chunks.chunk_rows + inside
        out = torch.empty(len(rows), self.rows.columns)
        numbers = np.unique(group).tolist()
        for number in numbers:
            while self.current < number:
                self.buffer = next(self.values)
                self.current += 1
            if len(numbers) == 1:
                return torch.index_select(self.buffer, 0, torch.from_numpy(place), out=out)
            where = torch.from_numpy(np.flatnonzero(group == number))
            out.index_copy_(0, where, self.buffer.index_select(0, torch.from_numpy(place)[where]))
        return out

    def _read(self, number: int) -> Tensor:
        """Fill one of the two buffers with a group; the other one is in use."""
        buffer, step = self.buffers[number % 2], self.chunks.chunk_rows
        for place, (start, stop) in enumerate(map(self.chunks.bounds, self.groups[number].tolist())):
            out = buffer[place * step : place * step + stop - start].numpy()
            self.rows.read(start, out, in_order=False)
        return buffer
