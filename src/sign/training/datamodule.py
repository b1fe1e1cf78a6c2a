"""The LightningDataModule: fills the store, opens its hops, and serves batches of their rows."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sign.diffusion.hops import Hops
from sign.diffusion.precompute import Precomputation
from sign.graph.features import SparseFeatures
from sign.graph.graph import SPLITS
from sign.store.folder import MANIFEST
from sign.training.chunk_loader import ChunkLoader
from sign.training.chunks import ChunkOrder, Chunks
from sign.training.distributed import rank, world_size
from sign.training.file_rows import FileRows, layout, write_or_open
from sign.training.hop_rows import HopRows
from sign.training.node_datamodule import NodeDataModule
from sign.training.rows import CPU, RowLoader, Rows, StoredRows, rank_slice
from sign.training.sparse_rows import load_mixed

EVERY_EPOCH = ("train", "val")  # splits that are worth a row file
EVALUATION_BATCH = 1 << 12  # rows that are evaluated at a time, at least


class SIGNDataModule(NodeDataModule):
    """Rows of the hops that ``precomputation`` describes; ``prepare_data`` sets ``hops``, too.

    ``placement``, which depends on :attr:`row_bytes`, has to be set before ``setup``, unless rows are in memory;
    with it the ``device`` that batches are copied to, and the ``dtype`` of rows that are held there. ``sparse_hops``
    says whether the network takes sparse hops, which then stay so in memory.
    """

    hops: Hops
    device = CPU
    dtype = torch.float32
    sparse_hops = False

    def __init__(self, precomputation: Precomputation, seed: int) -> None:
        super().__init__(seed)
        self.precomputation, self.engine = precomputation, precomputation.engine

    @property
    def source(self) -> Precomputation:
        """What the hops depend on."""
        return self.precomputation

    def prepare_data(self) -> None:
        """Load the graph, and compute the hops that the store lacks."""
        if not hasattr(self, "hops"):
            self.classification, self.hops = self.precomputation.run()

    def setup(self, stage: str) -> None:
        """Make an evaluation loader for each split; rows on disk that are read in every epoch get a row file."""
        if self.loaders:
            return
        with self.engine.limits(Path(self.precomputation.store.root)):
            self.training_rows = self._rows("train", stage, slice(0, len(self.classification.labels["train"])))
            for split in SPLITS:
                own = rank_slice(len(self.classification.labels[split]), rank(), world_size())  # each row on one rank
                rows = self.training_rows.own(own) if split == "train" else self._rows(split, stage, own)
                batch_size = max(self.batch_size, EVALUATION_BATCH)
                self.loaders[split] = RowLoader(rows, self._labels_of(rows, split)[own], batch_size, device=self.device)

    def reuse(self, seed: int) -> None:
        """Serve the next run of a series, which differs in its seed only."""
        self.hops, self.seed = self.hops.again(), seed

    def release(self) -> None:
        """Free the rows that are held; ``setup`` opens them again."""
        super().release()
        del self.training_rows

    @property
    def row_bytes(self) -> int:
        """The size of all rows in memory."""
        return sum(self._hop_rows(split).nbytes(self.sparse_hops) for split in SPLITS)

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
        """Training rows in a new order every epoch."""
        rows = self.training_rows
        labels = self._labels_of(rows, "train")
        ranks = rank(), world_size(), self.device
        if isinstance(rows, FileRows):
            return ChunkLoader(rows, labels, self.batch_size, self._chunk_order, *ranks)
        loader = RowLoader(rows, labels, self.batch_size, self._order, *ranks)
        if self.placement.shuffle == "chunks":
            loader.order = lambda: self._order_of_chunks(loader.batches)
        return loader

    def _hop_rows(self, split: str) -> HopRows:
        return HopRows(self.hops.arrays[split], self.hops.rows[split], self.hop_scaling)

    def _rows(self, split: str, stage: str, part: slice) -> StoredRows:
        """Some rows of a split, where they are to be held."""
        rows = self._hop_rows(split)
        if self.placement.rows == "device":
            return Rows.load(rows.own(part), self.device, self.dtype)
        if self.placement.rows == "memory":
            mixed = self.sparse_hops and any(isinstance(array, SparseFeatures) for array in rows.arrays)
            return load_mixed(rows.own(part)) if mixed else Rows.load(rows.own(part))
        if stage != "fit" or split not in EVERY_EPOCH:
            return rows.own(part)
        store = self.precomputation.store
        root = Path(store.root) / self.classification.name
        return write_or_open(root, split, rows, self.hops.checksums(split), split == "train", store.verify).own(part)

    def _labels_of(self, rows: StoredRows, split: str) -> Tensor:
        """The labels of a split, in the order of its rows."""
        labels = self.labels(split)
        return labels[torch.from_numpy(layout(len(labels)))] if isinstance(rows, FileRows) and rows.shuffled else labels

    def _order(self) -> Tensor:
        """A permutation that depends on seed and epoch only, so that a resumed run repeats it."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.sampling_epoch)
        return torch.randperm(len(self.classification.labels["train"]), generator=generator)

    def _order_of_chunks(self, batches: list[slice]) -> Tensor:
        """The order in which a row file would be read, for rows that are in memory."""
        file_order = layout(len(self.training_rows))
        return torch.from_numpy(file_order[self._chunk_order().for_ranks(batches, world_size())])

    def _chunk_order(self) -> ChunkOrder:
        """The chunks of an epoch, which depend on seed and epoch only."""
        rows = len(self.classification.labels["train"])
        return Chunks.of(rows, self.training_rows.columns).epoch(self.seed, self.sampling_epoch)


def abbreviate(names: list[str]) -> str:
    """The names of hops with the powers of each operator as a range: ``X, p1…p10, t1``."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rstrip("0123456789"), []).append(name)
    return ", ".join(group[0] if len(group) == 1 else f"{group[0]}…{group[-1]}" for group in groups.values())
