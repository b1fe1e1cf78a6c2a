"""The LightningModule: loss, metrics and optimiser around the network."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Self

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sign.graph.graph import SPLITS
from sign.models.architecture import Architecture
from sign.models.sign import SIGN
from sign.training.class_results import ClassResults
from sign.training.datamodule import SIGNDataModule
from sign.training.metrics import SplitMetrics, ogb_accuracy
from sign.training.outputs import SplitOutputs
from sign.training.ranking import ranking_metrics
from sign.training.rows import Batch, RowLoader
from sign.training.settings import RANKING, Training
from sign.training.thresholds import threshold_counts, validation_thresholds


class SIGNTask(pl.LightningModule):
    """Node classification with SIGN, single label or multilabel.

    All hyperparameters are plain values, so that a checkpoint is loaded without running code. Metrics are summed here
    and logged once per epoch: logging each of them for each batch costs more than a small network. Ranking metrics,
    which sort the scores of all rows, are computed by the final test, and in every epoch if they are monitored.

    Parameters
    ----------
    evaluator
        The data set whose OGB evaluator computes the accuracy of the final test; None: our own counts.
    class_names, feature_names, feature_scaling, hop_scaling, inductive, fill_values
        Kept in the checkpoint for predictions: what classes and features are called, how rows are scaled, the
        protocol, from which operators derive their parameters, and what replaces missing features.

    Attributes
    ----------
    class_results
        Counts by class on the test split; set by the final test.
    thresholds
        From which probability on a label is assigned; None: 0.5, or chosen by the final test.
    """

    class_results: ClassResults
    thresholds: list[float] | None = None

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
        inductive: bool = False,
        fill_values: list[float] | None = None,
    ) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.training_settings = Training(**training)
        self.network = SIGN(features, len(branches), classes, Architecture(**architecture))
        self.metrics = {"train": SplitMetrics(multilabel), "val": SplitMetrics(multilabel, classes)}
        self.outputs: dict[str, SplitOutputs] = {}
        self.classes, self.multilabel, self.seed, self.evaluator = classes, multilabel, seed, evaluator

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
            inductive=data.precomputation.dataset.inductive,
            fill_values=list(data.classification.fill_values),
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
        if self.training_settings.monitor in RANKING and not self.outputs:
            self.outputs = {"val": self._outputs_of(self.trainer.val_dataloaders)}  # type: ignore[arg-type]

    def validation_step(self, batch: Batch, index: int) -> None:
        """Loss and metrics on validation rows."""
        self._evaluate(batch, "val")

    def on_validation_epoch_end(self) -> None:
        """Log the metrics of an epoch."""
        metrics = self.metrics["train"].compute("train", self._all_reduce())
        metrics |= self.metrics["val"].compute("val", self._all_reduce())
        if self.outputs:
            metrics |= self._ranking("val")
        self.log_dict(metrics, logger=False)

    def on_test_start(self) -> None:
        """Count every split by class, and keep its outputs."""
        self.metrics = {split: SplitMetrics(self.multilabel, self.classes) for split in SPLITS}
        loaders = zip(SPLITS, self.trainer.test_dataloaders or [], strict=True)
        self.outputs = {split: self._outputs_of(loader) for split, loader in loaders}

    def test_step(self, batch: Batch, index: int, dataloader_idx: int = 0) -> None:
        """Loss and metrics on the rows of every split."""
        self._evaluate(batch, SPLITS[dataloader_idx])

    def on_test_epoch_end(self) -> None:
        """Log the final metrics, and keep the results by class of the test split."""
        thresholds = self.thresholds if self.multilabel else None
        if thresholds is None and self.multilabel and self.training_settings.threshold == "validation":
            thresholds = validation_thresholds(self.outputs["val"].by_class())
        for split, split_metrics in self.metrics.items():
            sums, outputs = split_metrics.reduce(self._all_reduce()), self.outputs[split]
            if thresholds:
                counts = threshold_counts(outputs.by_class(), thresholds)
                sums = sums._replace(counts=torch.from_numpy(counts).to(sums.counts))
            metrics = {f"{split}/{name}": value for name, value in split_metrics.metrics(sums).items()}
            if self.evaluator:
                metrics[f"{split}/accuracy"] = _double(ogb_accuracy(self.evaluator, *outputs.single_labels()))
            self.log_dict(metrics | self._ranking(split), logger=False)
        self.class_results = ClassResults(sums.counts.cpu().numpy(), outputs.confusion(), thresholds)
        self.outputs = {}

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam with weight decay."""
        settings = self.training_settings
        return torch.optim.Adam(
            self.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
        )

    def _evaluate(self, batch: Batch, split: str) -> Tensor:
        """Add a batch to the metrics; returns the sum of its losses."""
        logits = self(batch.rows)
        if self.multilabel:
            entries = binary_cross_entropy_with_logits(logits, batch.labels, reduction="sum")
            loss = entries / batch.labels.shape[1]
        else:
            loss = cross_entropy(logits, batch.labels, reduction="sum")
        self.metrics[split].update(loss, logits, batch.labels)
        if split in self.outputs:
            self.outputs[split].add(logits)
        return loss

    def _outputs_of(self, loader: RowLoader) -> SplitOutputs:
        return SplitOutputs(loader.labels, self.classes, self.multilabel)

    def _ranking(self, split: str) -> dict[str, Tensor]:
        """ROC-AUC, and the average precision of two classes or of labels."""
        metrics = ranking_metrics(self.outputs[split].by_class())
        if not self.multilabel and self.classes != 2:
            metrics.pop("average_precision", None)
        return {f"{split}/{name}": _double(value) for name, value in metrics.items()}

    def _all_reduce(self) -> Callable[[Tensor], Tensor] | None:
        """The sum of a tensor over all ranks; None for one rank."""
        if self.trainer.world_size == 1:
            return None

        def all_reduce(sums: Tensor) -> Tensor:
            sums = sums.to(self.device)
            torch.distributed.all_reduce(sums)
            return sums

        return all_reduce


def _double(value: float) -> Tensor:
    return torch.tensor(value, dtype=torch.float64)
