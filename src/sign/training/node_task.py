"""The LightningModule of node classification: metrics and optimiser around any network."""

from collections.abc import Callable
from typing import ClassVar

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sign.graph.graph import SPLITS
from sign.training.batch import Batch
from sign.training.class_results import ClassResults
from sign.training.metrics import SplitMetrics, ogb_accuracy
from sign.training.outputs import SplitOutputs
from sign.training.ranking import ranking_metrics
from sign.training.rows import RowLoader
from sign.training.settings import RANKING, Training
from sign.training.thresholds import threshold_counts, validation_thresholds


class NodeTask(pl.LightningModule):
    """Node classification, single label or multilabel; subclasses have the network, its logits and a training step.

    All hyperparameters are plain values, so that a checkpoint is loaded without running code. Metrics are summed here
    and logged once per epoch: logging each of them for each batch costs more than a small network. Ranking metrics,
    which sort the scores of all rows, are computed by the final test, and in every epoch if they are monitored.

    Attributes
    ----------
    same_network
        The hyperparameters that have to be equal for a checkpoint to be resumed.
    class_results
        Counts by class on the test split; set by the final test.
    thresholds
        From which probability on a label is assigned; None: 0.5, or chosen by the final test.
    inference_overhead
        Seconds of the inference on the test split before its first batch; set by the final test.
    inference_overhead_all
        The same for all splits; what serves several of them is counted once.
    """

    same_network: ClassVar[tuple[str, ...]]
    network: nn.Module
    class_results: ClassResults
    thresholds: list[float] | None = None
    inference_overhead = 0.0
    inference_overhead_all = 0.0

    def __init__(
        self, classes: int, multilabel: bool, training: Training, seed: int = 0, evaluator: str | None = None
    ) -> None:
        super().__init__()
        self.training_settings = training
        self.metrics = {"train": SplitMetrics(multilabel), "val": SplitMetrics(multilabel, classes)}
        self.outputs: dict[str, SplitOutputs] = {}
        self.classes, self.multilabel, self.seed, self.evaluator = classes, multilabel, seed, evaluator

    def on_train_epoch_start(self) -> None:
        """Seed dropout by seed, epoch and rank, so that a resumed run repeats it."""
        torch.manual_seed(self.seed * 1_000_003 + self.current_epoch + (self.global_rank << 52))

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
