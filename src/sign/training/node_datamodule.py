"""What a run asks of its data, whatever the network reads."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor

from sign.engines.base import Engine
from sign.graph.classification import NodeClassification
from sign.training.placement import Placement
from sign.training.rows import RowLoader


class NodeDataModule(pl.LightningDataModule, ABC):
    """Batches of the nodes of a graph.

    ``prepare_data`` sets ``classification``, ``setup`` sets the evaluation ``loaders`` of all splits; called again,
    both do nothing. ``hop_scaling`` and ``batch_size``, which may be chosen by the data, have to be set in between.
    ``engine`` has the memory limit.
    """

    classification: NodeClassification
    engine: Engine
    hop_scaling: str
    batch_size: int
    placement = Placement()

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.loaders: dict[str, RowLoader] = {}

    @property
    @abstractmethod
    def source(self) -> Any:
        """What the data depend on, besides the seed: runs with an equal source can share them."""

    @abstractmethod
    def reuse(self, seed: int) -> None:
        """Serve the next run of a series, which differs in its seed only."""

    def release(self) -> None:
        """Free the rows that are held; ``setup`` opens them again."""
        self.loaders.clear()

    @property
    @abstractmethod
    def seconds(self) -> float:
        """The cost of the preprocessing."""

    @property
    def manifests(self) -> list[Path]:
        """Files that describe stored inputs, for a tracker."""
        return []

    @abstractmethod
    def records(self) -> dict[str, Any]:
        """What ``run.json`` records of the inputs."""

    @property
    def sampling_epoch(self) -> int:
        """The epoch whose batches are served: the current one, or always the first while overfitting some batches."""
        trainer: Any = self.trainer  # Lightning sets overfit_batches, but does not declare it
        return 0 if trainer is None or trainer.overfit_batches else int(trainer.current_epoch)

    def val_dataloader(self) -> RowLoader:
        """Validation rows in their own order."""
        return self.loaders["val"]

    def test_dataloader(self) -> list[RowLoader]:
        """Every split: the final metrics are those of one network on all three."""
        return list(self.loaders.values())

    def labels(self, split: str) -> Tensor:
        """The labels of a split, of the type that its loss takes."""
        dtype: Any = np.float32 if self.classification.multilabel else np.int64
        return torch.from_numpy(self.classification.labels[split].astype(dtype))
