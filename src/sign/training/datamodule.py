"""The LightningDataModule: fills the store, opens its hops, and serves batches of their rows."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sign.diffusion.hops import Hops
from sign.diffusion.precompute import Precomputation
from sign.graph.graph import SPLITS
from sign.store.store import MANIFEST
from sign.system import memory
from sign.training.distributed import rank, world_size
from sign.training.node_datamodule import NodeDataModule
from sign.training.rows import RowLoader, Rows, rank_slice

MEMORY_FRACTION = 0.5  # of the available memory that rows may take before they stay on disk
EVALUATION_BATCH = 1 << 12  # rows that are evaluated at a time, at least


class SIGNDataModule(NodeDataModule):
    """Rows of the hops that ``precomputation`` describes; ``prepare_data`` sets ``hops``, too."""

    hops: Hops

    def __init__(self, precomputation: Precomputation, seed: int) -> None:
        super().__init__(seed)
        self.precomputation = precomputation

    @property
    def source(self) -> Precomputation:
        """What the hops depend on."""
        return self.precomputation

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
        """Columns of the features."""
        return self.classification.scopes[0].features

    @property
    def columns(self) -> dict[str, int]:
        """The hops of a wide row in order, with the number of columns of each."""
        arrays = self.hops.arrays["train"]
        return {name: int(array.shape[1]) for name, array in zip(self.hops.names, arrays, strict=True)}

    @property
    def seconds(self) -> float:
        """The time that computing all hops took, now or when they were stored."""
        return self.hops.cost

    @property
    def manifests(self) -> list[Path]:
        """The records of the hops in the store."""
        return [folder / MANIFEST for folder in self.hops.folders]

    def records(self) -> dict[str, Any]:
        """The hops and their cost, for ``run.json``."""
        hops = self.hops
        return {
            "hops": hops.records(),
            "products": hops.products,
            "rows_computed": hops.rows_computed,
            "rows_saved": hops.rows_saved,
        }

    def __str__(self) -> str:
        return f"{len(self.hops.names)} branches ({abbreviate(self.hops.names)})"

    def train_dataloader(self) -> RowLoader:
        """Training rows in a new order every epoch.

        With several ranks, each reads its part of a batch from the memory maps instead of holding all rows.
        """
        rows = self.loaders["train"].rows
        if world_size() > 1:
            rows = Rows(self.hops.arrays["train"], self.hops.rows["train"], self.hop_scaling, in_memory=False)
        return RowLoader(rows, self.labels("train"), self.batch_size, self._order, rank(), world_size())

    def _evaluation_loader(self, split: str, in_memory: bool) -> RowLoader:
        """The rows of a split that this rank evaluates; each row belongs to one rank."""
        own = rank_slice(len(self.classification.labels[split]), rank(), world_size())
        indices = [rows[own] for rows in self.hops.rows[split]]
        rows = Rows(self.hops.arrays[split], indices, self.hop_scaling, in_memory)
        return RowLoader(rows, self.labels(split)[own], max(self.batch_size, EVALUATION_BATCH))

    def _order(self) -> Tensor:
        """A permutation that depends on seed and epoch only, so that a resumed run repeats it."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.sampling_epoch)
        return torch.randperm(len(self.classification.labels["train"]), generator=generator)


def abbreviate(names: list[str]) -> str:
    """The names of hops with the powers of each operator as a range: ``X, p1…p10, t1``."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rstrip("0123456789"), []).append(name)
    return ", ".join(group[0] if len(group) == 1 else f"{group[0]}…{group[-1]}" for group in groups.values())
