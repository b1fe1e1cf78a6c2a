"""The LightningModule: loss, metrics and optimiser around the network."""

from dataclasses import asdict
from typing import Any, Self

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sign.graph.csr import Array
from sign.graph.graph import SPLITS
from sign.models.architecture import Architecture
from sign.models.sign import SIGN
from sign.training.datamodule import SIGNDataModule
from sign.training.distributed import gather
from sign.training.metrics import SplitMetrics, ogb_accuracy
from sign.training.rows import Batch
from sign.training.settings import Training


class SIGNTask(pl.LightningModule):
    """Node classification with SIGN, single label or multilabel.

    All hyperparameters are plain values, so that a checkpoint is loaded without running code. Metrics are summed here
    and logged once per epoch: logging each of them for each batch costs more than a small network.

    Parameters
    ----------
    evaluator
        The data set whose OGB evaluator computes the accuracy of the final test; None: our own counts.
    class_names, feature_names, feature_scaling, hop_scaling
        Kept in the checkpoint for predictions: what classes and features are called, and how rows are scaled.
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
        evaluator: str | None = None,
        class_names: list[str] | None = None,
        feature_names: list[str] | None = None,
        feature_scaling: dict[str, Any] | None = None,
        hop_scaling: str = "none",
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.training_settings = Training(**training)
        self.network = SIGN(features, len(branches), classes, Architecture(**architecture))
        self.metrics = {split: SplitMetrics(multilabel) for split in SPLITS}
        self.predictions: dict[str, list[tuple[Array, Array]]] = {split: [] for split in SPLITS}
        self.multilabel, self.seed, self.evaluator = multilabel, seed, evaluator

    @classmethod
    def for_data(cls, data: SIGNDataModule, architecture: Architecture, training: Training, seed: int) -> Self:
        """The task of a prepared data module, whose sizes it takes."""
        return cls(
            features=data.features,
            branches=data.hops.names,
            classes=data.classification.classes,
            multilabel=data.classification.multilabel,
            architecture=asdict(architecture),
            training=asdict(training),
            seed=seed,
            evaluator=data.classification.evaluator,
            class_names=list(data.classification.class_names),
            feature_names=list(data.classification.feature_names),
            feature_scaling=data.classification.feature_scaling.to_plain(),
            hop_scaling=data.hop_scaling,
        )

    def forward(self, rows: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.network(rows)
        return logits

    def on_train_epoch_start(self) -> None:
        """Seed dropout by seed, epoch and rank, so that a resumed run repeats it."""
        torch.manual_seed(self.seed * 1_000_003 + self.current_epoch + (self.global_rank << 52))

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """The loss of one minibatch: a mean over its rows on all ranks, whose gradients DDP averages."""
        return self._evaluate(batch, "train") * (self.trainer.world_size / batch.total)

    def on_validation_start(self) -> None:
        """Evaluate with the batch norm statistics of rank 0, which are those of the checkpoint."""
        if self.trainer.world_size > 1:
            for buffer in self.buffers():
                torch.distributed.broadcast(buffer, 0)

    def validation_step(self, batch: Batch, index: int) -> None:
        """Loss and metrics on validation rows."""
        self._evaluate(batch, "val")

    def on_validation_epoch_end(self) -> None:
        """Log the metrics of an epoch."""
        self._log("train", "val")

    def test_step(self, batch: Batch, index: int, dataloader_idx: int = 0) -> None:
        """Loss and metrics on the rows of every split."""
        self._evaluate(batch, SPLITS[dataloader_idx], keep=self.evaluator is not None)

    def on_test_epoch_end(self) -> None:
        """Log the final metrics."""
        self._log(*SPLITS)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with weight decay."""
        settings = self.training_settings
        return torch.optim.Adam(
            self.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    def _evaluate(self, batch: Batch, split: str, keep: bool = False) -> Tensor:
        """Add a batch to the metrics; returns the sum of its losses."""
        logits = self(batch.rows)
        if self.multilabel:
            entries = binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum")
            loss = entries / batch.labels.shape[1]
        else:
            loss = cross_entropy(logits, batch.labels, reduction="sum")
        self.metrics[split].update(loss, logits, batch.labels)
        if keep:
            self.predictions[split].append((logits.argmax(1).cpu().numpy(), batch.labels.cpu().numpy()))
        return loss

    def _log(self, *splits: str) -> None:
        all_reduce = self._all_reduce if self.trainer.world_size > 1 else None
        for split in splits:
            metrics: dict[str, Any] = dict(self.metrics[split].compute(split, all_reduce))
            if self.evaluator and self.trainer.testing:
                metrics |= dict.fromkeys((f"{split}/accuracy", f"{split}/micro_f1"), self._ogb(split))
            self.log_dict(metrics, logger=False)

    def _ogb(self, split: str) -> Tensor:
        """The accuracy of a split by OGB's evaluator, from the predictions of all ranks."""
        batches = [batch for part in gather(self.predictions[split]) for batch in part]
        self.predictions[split] = []
        predictions, labels = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
        return torch.tensor(ogb_accuracy(str(self.evaluator), predictions, labels), dtype=torch.float64)

    def _all_reduce(self, sums: Tensor) -> Tensor:
        sums = sums.to(self.device)
        torch.distributed.all_reduce(sums)
        return sums
