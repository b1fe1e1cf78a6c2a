"""The LightningDataModule: fills the store, opens its hops, and serves batches of their rows."""

from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from sign.diffusion.hops import Hops
from sign.diffusion.precompute import Precomputation
from sign.graph.classification import NodeClassification
from sign.graph.graph import SPLITS
from sign.system import memory
from sign.training.distributed import rank, world_size
from sign.training.rows import RowLoader, Rows, rank_slice

MEMORY_FRACTION = 0.5  # of the available memory that rows may take before they stay on disk
EVALUATION_BATCH = 1 << 12  # rows that are evaluated at a time, at least


class SIGNDataModule(pl.LightningDataModule):
    """Rows of the hops that ``precomputation`` describes.

    ``prepare_data`` sets ``classification`` and ``hops``, ``setup`` sets ``loaders``; called again, both do nothing.
    ``hop_scaling`` and ``batch_size``, which may be chosen by the data, have to be set in between.
    """

    classification: NodeClassification
    hops: Hops
    hop_scaling: str
    batch_size: int

    def __init__(self, precomputation: Precomputation, seed: int) -> None:
        super().__init__()
        self.precomputation, self.seed = precomputation, seed
        self.loaders: dict[str, RowLoader] = {}

    def prepare_data(self) -> None:
        """Load the graph, and compute the hops that the store lacks."""
        if not hasattr(self, "hops"):
            self.classification, self.hops = self.precomputation.run()

    def setup(self, stage: str) -> None:
        """Make an evaluation loader for each split, in memory if all rows fit."""
        if not self.loaders:
            nodes = sum(len(labels) for labels in self.classification.labels.values())
            size = nodes * len(self.hops.names) * self.features * 4
            in_memory = size <= MEMORY_FRACTION * memory.available()
            self.loaders = {split: self._evaluation_loader(split, in_memory) for split in SPLITS}

    def reuse(self, seed: int) -> None:
        """Serve the next run of a series, which differs in its seed only."""
        self.hops, self.seed = self.hops.again(), seed

    @property
    def features(self) -> int:
        """Columns of one hop."""
        return self.classification.scopes[0].features

    def train_dataloader(self) -> RowLoader:
        """Training rows in a new order every epoch.

        With several ranks, each reads its part of a batch from the memory maps instead of holding all rows.
        """
        rows = self.loaders["train"].rows
        if world_size() > 1:
            rows = Rows(self.hops.arrays["train"], self.hops.rows["train"], self.hop_scaling, in_memory=False)
        return RowLoader(rows, self._labels("train"), self.batch_size, self._order, rank(), world_size())

    def val_dataloader(self) -> RowLoader:
        """Validation rows in their own order."""
        return self.loaders["val"]

    def test_dataloader(self) -> list[RowLoader]:
        """Every split: the final metrics are those of one network on all three."""
        return list(self.loaders.values())

    def _evaluation_loader(self, split: str, in_memory: bool) -> RowLoader:
        """The rows of a split that this rank evaluates; each row belongs to one rank."""
        own = rank_slice(len(self.classification.labels[split]), rank(), world_size())
        indices = [rows[own] for rows in self.hops.rows[split]]
        rows = Rows(self.hops.arrays[split], indices, self.hop_scaling, in_memory)
        return RowLoader(rows, self._labels(split)[own], max(self.batch_size, EVALUATION_BATCH))

    def _labels(self, split: str) -> Tensor:
        dtype: Any = np.float32 if self.classification.multilabel else np.int64
        return torch.from_numpy(self.classification.labels[split].astype(dtype))

    def _order(self) -> Tensor:
        """A permutation that depends on seed and epoch only, so that a resumed run repeats it."""
        epoch = self.trainer.current_epoch if self.trainer else 0
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        return torch.randperm(len(self.classification.labels["train"]), generator=generator)
