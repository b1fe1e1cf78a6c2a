"""The LightningModule: loss, metrics and optimiser around the network."""

from typing import Any

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score, MultilabelF1Score

from sign.datamodule import Batch
from sign.graph import SPLITS
from sign.network import SIGN
from sign.settings import Architecture, Training


class SIGNTask(pl.LightningModule):
    """Node classification with SIGN, single label or multilabel.

    All hyperparameters are plain values, so that a checkpoint is loaded without running code.
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
        self.loss = nn.BCEWithLogitsLoss() if multilabel else nn.CrossEntropyLoss()
        self.metrics = nn.ModuleDict({f"on_{split}": metrics(split, classes, multilabel) for split in SPLITS})

    def forward(self, rows: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.network(rows)
        return logits

    def on_train_epoch_start(self) -> None:
        """Dropout depends on seed and epoch alone, so that a resumed run repeats it."""
        torch.manual_seed(self.hparams["seed"] * 1_000_003 + self.current_epoch)

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """The loss of one minibatch."""
        return self._step(batch, "train")

    def validation_step(self, batch: Batch, index: int) -> None:
        """Loss and metrics on validation rows."""
        self._step(batch, "val")

    def test_step(self, batch: Batch, index: int, dataloader_idx: int = 0) -> None:
        """Loss and metrics on the rows of every split."""
        self._step(batch, SPLITS[dataloader_idx])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with weight decay."""
        settings = self.training_settings
        return torch.optim.Adam(
            self.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    def _step(self, batch: Batch, split: str) -> Tensor:
        rows, labels = batch
        logits = self(rows)
        loss: Tensor = self.loss(logits, labels)
        collection: Any = self.metrics[f"on_{split}"]
        if self.hparams["multilabel"]:
            collection.update((logits.detach() > 0).int(), labels.int())
        else:
            collection.update(logits.detach(), labels)
        options: dict[str, Any] = {
            "on_step": False,
            "on_epoch": True,
            "logger": False,
            "add_dataloader_idx": False,
        }
        self.log(f"{split}/loss", loss.detach(), batch_size=len(rows), **options)
        self.log_dict(dict(collection.items()), **options)
        return loss


def metrics(split: str, classes: int, multilabel: bool) -> MetricCollection:
    """Accuracy and micro-F1, which are one number for single labels; micro-F1 for multilabel."""
    if multilabel:
        return MetricCollection({"micro_f1": MultilabelF1Score(classes, average="micro")}, prefix=f"{split}/")
    return MetricCollection(
        {
            "accuracy": MulticlassAccuracy(classes, average="micro"),
            "micro_f1": MulticlassF1Score(classes, average="micro"),
        },
        prefix=f"{split}/",
    )
