"""The LightningModule: loss, metrics and optimiser around the network."""

from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sign.graph.graph import SPLITS
from sign.models.architecture import Architecture
from sign.models.sign import SIGN
from sign.training.datamodule import Batch
from sign.training.metrics import Tally
from sign.training.settings import Training


class SIGNTask(pl.LightningModule):
    """Node classification with SIGN, single label or multilabel.

    All hyperparameters are plain values, so that a checkpoint is loaded without running code. Metrics are counted
    here and logged once an epoch: logging each of them for each batch costs more than a small network.
    """

    def __init__(
        self,
        features: int,
        branches: list[str],
        classes: int,
        multilabel: bool,
        architecture: dict[str, Any],
        training: dict[str, Any],
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.training_settings = Training(**training)
        self.network = SIGN(features, len(branches), classes, Architecture(**architecture))
        self.tallies = {split: Tally(multilabel) for split in SPLITS}
        self.multilabel, self.seed = multilabel, seed

    def forward(self, rows: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.network(rows)
        return logits

    def on_train_epoch_start(self) -> None:
        """Dropout depends on seed, epoch and process alone, so that a resumed run repeats it."""
        torch.manual_seed(self.seed * 1_000_003 + self.current_epoch + (self.global_rank << 52))

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """The loss of one minibatch: a mean over its rows in all processes, whose gradients are averaged."""
        return self._add(batch, "train") * (self.trainer.world_size / batch.whole)

    def on_validation_start(self) -> None:
        """What batch norm has gathered becomes that of the first process, as in a checkpoint."""
        if self.trainer.world_size > 1:
            for buffer in self.buffers():
                torch.distributed.broadcast(buffer, 0)

    def validation_step(self, batch: Batch, index: int) -> None:
        """Loss and metrics on validation rows."""
        self._add(batch, "val")

    def on_validation_epoch_end(self) -> None:
        """The numbers of an epoch."""
        self._log("train", "val")

    def test_step(self, batch: Batch, index: int, dataloader_idx: int = 0) -> None:
        """Loss and metrics on the rows of every split."""
        self._add(batch, SPLITS[dataloader_idx])

    def on_test_epoch_end(self) -> None:
        """The final numbers."""
        self._log(*SPLITS)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with weight decay."""
        settings = self.training_settings
        return torch.optim.Adam(
            self.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    def _add(self, batch: Batch, split: str) -> Tensor:
        """The sum of the losses of a batch, which is noted."""
        logits = self(batch.rows)
        if self.multilabel:
            entries = binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum")
            loss = entries / batch.labels.shape[1]
        else:
            loss = cross_entropy(logits, batch.labels, reduction="sum")
        self.tallies[split].add(loss, logits, batch.labels)
        return loss

    def _log(self, *splits: str) -> None:
        add_up = self._add_up if self.trainer.world_size > 1 else None
        for split in splits:
            self.log_dict(self.tallies[split].results(split, add_up), logger=False)

    def _add_up(self, sums: Tensor) -> Tensor:
        sums = sums.to(self.device)
        torch.distributed.all_reduce(sums)
        return sums
