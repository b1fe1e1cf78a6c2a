"""Rows of stored hops ▶ batches."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from sign.diffusion.precompute import Hops, Precomputation
from sign.graph.classification import NodeClassification
from sign.graph.csr import Array
from sign.graph.feature_scaling import scale_hop_rows
from sign.graph.graph import SPLITS
from sign.system import memory

MEMORY_SHARE = 0.5  # of the available memory that rows may take before they stay on disk
COPY_ROWS = 1 << 14  # rows that are brought from disk at a time


class Batch(NamedTuple):
    """Rows with their labels, and how many rows the batch has in all processes."""

    rows: Tensor
    labels: Tensor
    whole: int


class Share(NamedTuple):
    """Which part of every batch is this process's."""

    rank: int = 0
    world: int = 1

    def of(self, rows: int) -> slice:
        """Its part of so many rows."""
        return slice(rows * self.rank // self.world, rows * (self.rank + 1) // self.world)


ALONE = Share()


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
    """Batches of rows and labels. ``order`` gives the order of an epoch; without it rows come as they are.

    Batches are cut from the order of all rows, and each process takes its share of every one: how many there are
    changes no batch, but for rows left over that are too few for them.
    """

    def __init__(
        self,
        rows: Rows,
        labels: Tensor,
        batch_size: int,
        order: Callable[[], Tensor] | None = None,
        share: Share = ALONE,
    ) -> None:
        self.rows, self.labels, self.batch_size = rows, labels, batch_size
        self.order, self.share = order, share

    @cached_property
    def parts(self) -> list[slice]:
        """The batches; rows that would be left over join the last, since batch norm needs two in each process."""
        starts = list(range(0, len(self.rows), self.batch_size)) or [0]
        if len(starts) > 1 and len(self.rows) - starts[-1] < 2 * self.share.world:
            starts.pop()
        return [slice(*bounds) for bounds in pairwise([*starts, len(self.rows)])]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Batch]:
        order = self.order() if self.order else None
        for part in self.parts:
            whole = part.stop - part.start
            index = part if order is None else order[part][self.share.of(whole)]
            yield Batch(self.rows[index], self.labels[index], whole)


class SIGNDataModule(pl.LightningDataModule):
    """Loads the graph, brings its hops into the store, and serves their rows."""

    def __init__(self, precomputation: Precomputation, hop_scaling: str, batch_size: int, seed: int) -> None:
        super().__init__()
        self.precomputation = precomputation
        self.hop_scaling, self.batch_size, self.seed = hop_scaling, batch_size, seed
        self.loaders: dict[str, RowLoader] = {}

    @cached_property
    def prepared(self) -> tuple[NodeClassification, Hops]:
        """The data set and its hops; those that the store lacks are computed when they are first needed."""
        return self.precomputation.run()

    @property
    def classification(self) -> NodeClassification:
        """What is to be learned."""
        return self.prepared[0]

    @property
    def hops(self) -> Hops:
        """The hops of every split."""
        return self.prepared[1]

    @cached_property
    def in_memory(self) -> bool:
        """Whether the rows of all splits are held in memory rather than read from disk."""
        nodes = sum(len(labels) for labels in self.classification.labels.values())
        return nodes * self.branches * self.features * 4 <= MEMORY_SHARE * memory.available()

    @property
    def features(self) -> int:
        """Columns of one hop."""
        return self.classification.scopes[0].features

    @property
    def branches(self) -> int:
        """Number of hop arrays, the features among them."""
        return len(self.hops.names)

    @property
    def share(self) -> Share:
        """Which rows are this process's."""
        return Share(self.trainer.global_rank, self.trainer.world_size) if self.trainer else ALONE

    def setup(self, stage: str) -> None:
        """Make a loader for each split, once."""
        if not self.loaders:
            self.loaders = {split: self._loader(split) for split in SPLITS}

    def train_dataloader(self) -> RowLoader:
        """Training rows in a new order every epoch.

        Where several processes train, each reads its share of a batch from the maps and keeps no copy of all rows.
        """
        rows, share = self.loaders["train"].rows, self.share
        if share.world > 1:
            rows = Rows(self.hops.arrays["train"], self.hops.rows["train"], self.hop_scaling, in_memory=False)
        return RowLoader(rows, self._labels("train"), self.batch_size, self._order, share)

    def val_dataloader(self) -> RowLoader:
        """Validation rows as they are."""
        return self.loaders["val"]

    def test_dataloader(self) -> list[RowLoader]:
        """Every split: the final numbers are those of one network on all three."""
        return list(self.loaders.values())

    def _loader(self, split: str) -> RowLoader:
        """The rows of a split that this process evaluates: every row in one process, and in one only."""
        own = self.share.of(len(self.classification.labels[split]))
        places = [rows[own] for rows in self.hops.rows[split]]
        rows = Rows(self.hops.arrays[split], places, self.hop_scaling, self.in_memory)
        return RowLoader(rows, self._labels(split)[own], max(self.batch_size, 1 << 12))

    def _labels(self, split: str) -> Tensor:
        kind: Any = np.float32 if self.classification.multilabel else np.int64
        return torch.from_numpy(self.classification.labels[split].astype(kind))

    def _order(self) -> Tensor:
        """A permutation that depends on seed and epoch alone, so that a resumed run repeats it."""
        epoch = self.trainer.current_epoch if self.trainer else 0
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return torch.randperm(len(self.classification.labels["train"]), generator=generator)
