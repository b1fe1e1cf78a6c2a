"""Rows of stored hops ▶ batches."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from sign import memory
from sign.diffusion import Hops, Precomputation
from sign.graph import SPLITS
from sign.problem import Problem
from sign.scaling import scale_hop_rows
from sign.sparse import Array

MEMORY_SHARE = 0.5  # of the available memory that rows may take before they stay on disk
COPY_ROWS = 1 << 14  # rows that are brought from disk at a time

Batch: TypeAlias = tuple[Tensor, Tensor]


class Rows:
    """The rows of one split: one wide row a node, with its row of every hop side by side.

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
        chosen = index if isinstance(index, slice) else index.numpy()
        count = len(self.rows[0][chosen])
        wide = np.empty((count, len(self.arrays), self.arrays[0].shape[1]), np.float32)
        for branch, (array, rows) in enumerate(zip(self.arrays, self.rows, strict=True)):
            wide[:, branch] = array[rows[chosen]]
            scale_hop_rows(wide[:, branch], self.scaling)
        return torch.from_numpy(wide.reshape(count, -1))


class RowLoader:
    """Batches of rows and labels. ``order`` gives the order of an epoch; without it rows come as they are."""

    def __init__(
        self, rows: Rows, labels: Tensor, batch_size: int, order: Callable[[], Tensor] | None = None
    ) -> None:
        self.rows, self.labels, self.batch_size, self.order = rows, labels, batch_size, order

    @cached_property
    def parts(self) -> list[slice]:
        """The batches; one row that would be left over joins the last, since batch norm needs two."""
        starts = list(range(0, len(self.rows), self.batch_size))
        if len(starts) > 1 and len(self.rows) - starts[-1] == 1:
            starts.pop()
        return [slice(*bounds) for bounds in pairwise([*starts, len(self.rows)])]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Batch]:
        order = self.order() if self.order else None
        for part in self.parts:
            index = part if order is None else order[part]
            yield self.rows[index], self.labels[index]


class SIGNDataModule(pl.LightningDataModule):
    """Loads the graph, brings its hops into the store, and serves their rows."""

    def __init__(self, precomputation: Precomputation, hop_scaling: str, batch_size: int, seed: int) -> None:
        super().__init__()
        self.precomputation = precomputation
        self.hop_scaling, self.batch_size, self.seed = hop_scaling, batch_size, seed
        self.loaders: dict[str, RowLoader] = {}

    @cached_property
    def prepared(self) -> tuple[Problem, Hops]:
        """The data set and its hops; those that the store lacks are computed when they are first needed."""
        return self.precomputation.run()

    @property
    def problem(self) -> Problem:
        """What is to be learned."""
        return self.prepared[0]

    @property
    def hops(self) -> Hops:
        """The hops of every split."""
        return self.prepared[1]

    @cached_property
    def in_memory(self) -> bool:
        """Whether the rows of all splits are held in memory rather than read from disk."""
        nodes = sum(len(labels) for labels in self.problem.labels.values())
        return nodes * self.branches * self.features * 4 <= MEMORY_SHARE * memory.available()

    @property
    def features(self) -> int:
        """Columns of one hop."""
        return self.problem.scopes[0].features

    @property
    def branches(self) -> int:
        """Number of hop arrays, the features among them."""
        return len(self.hops.names)

    def setup(self, stage: str) -> None:
        """Make a loader for each split, once."""
        if not self.loaders:
            self.loaders = {split: self._loader(split) for split in SPLITS}

    def train_dataloader(self) -> RowLoader:
        """Training rows in a new order every epoch."""
        train = self.loaders["train"]
        return RowLoader(train.rows, train.labels, self.batch_size, self._order)

    def val_dataloader(self) -> RowLoader:
        """Validation rows as they are."""
        return self.loaders["val"]

    def test_dataloader(self) -> list[RowLoader]:
        """Every split: the final numbers are those of one network on all three."""
        return list(self.loaders.values())

    def _loader(self, split: str) -> RowLoader:
        hops, problem = self.hops, self.problem
        rows = Rows(hops.arrays[split], hops.rows[split], self.hop_scaling, self.in_memory)
        kind: Any = np.float32 if problem.multilabel else np.int64
        labels = torch.from_numpy(problem.labels[split].astype(kind))
        return RowLoader(rows, labels, max(self.batch_size, 1 << 12))

    def _order(self) -> Tensor:
        """A permutation that depends on seed and epoch alone, so that a resumed run repeats it."""
        epoch = self.trainer.current_epoch if self.trainer else 0
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return torch.randperm(len(self.loaders["train"].rows), generator=generator)
