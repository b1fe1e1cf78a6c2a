"""The task of a baseline: sampled training, exact evaluation."""

from dataclasses import asdict
from typing import Any, ClassVar, Self

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sign.baselines.base import Baseline
from sign.baselines.batches import TrainingBatch
from sign.baselines.datamodule import BaselineDataModule
from sign.baselines.network import Network
from sign.graph.graph import SPLITS
from sign.training.node_task import NodeTask
from sign.training.settings import Training


class BaselineTask(NodeTask):
    """Node classification with a baseline.

    Batches train the network. It is evaluated on all edges: before each validation, the logits of the validation nodes
    are computed once, before a test those of all nodes, and a batch of nodes looks its own up.
    """

    same_network: ClassVar = ("features", "nodes", "classes", "multilabel", "architecture")
    network: Network
    logits: Tensor

    def __init__(self, data: BaselineDataModule, baseline: Baseline, training: Training, seed: int) -> None:
        classification = data.classification
        classes, multilabel = classification.classes, classification.multilabel
        super().__init__(classes, multilabel, training, seed, classification.evaluator)
        sizes = {"features": data.features, "nodes": data.graphs[0].nodes, "classes": classes, "multilabel": multilabel}
        target = f"{type(baseline).__module__}.{type(baseline).__qualname__}"
        self.save_hyperparameters(
            sizes | {"architecture": {"_target_": target, **asdict(baseline)}, "training": asdict(training)}
        )
        self.network = baseline.network(data.features, classes, data.graphs[0].nodes)

    @classmethod
    def for_data(cls, data: BaselineDataModule, architecture: Baseline, training: Training, seed: int) -> Self:
        """The task of a prepared data module, whose sizes it takes."""
        return cls(data, architecture, training, seed)

    def forward(self, nodes: Tensor) -> Tensor:
        """Look up the logits of some nodes."""
        return self.logits[nodes.to(self.logits.device)].to(self.device)

    def training_step(self, batch: TrainingBatch, index: int) -> Tensor:
        """The loss of one batch: the weighted sum over its targets, and what its products add."""
        outputs: Tensor = self.network(batch.inputs, batch.propagations)
        logits = outputs if batch.targets is None else outputs[batch.targets]
        if self.multilabel:
            losses = binary_cross_entropy_with_logits(logits, batch.labels, reduction="none").mean(dim=1)
        else:
            losses = cross_entropy(logits, batch.labels, reduction="none")
        self.metrics["train"].update(losses.sum(), logits, batch.labels)
        return (losses * batch.loss_weights).sum() + sum(each.penalty for each in batch.propagations)

    def on_validation_start(self) -> None:
        """Compute the logits of the validation nodes."""
        super().on_validation_start()
        self.logits, _ = self._data.logits(self.network, self.device, ["val"])

    def on_test_start(self) -> None:
        """Compute the logits of all nodes, which is the main part of inference."""
        super().on_test_start()
        self.logits, seconds = self._data.logits(self.network, self.device, SPLITS)
        self.inference_overhead, self.inference_overhead_all = seconds[-1], sum(seconds)

    @property
    def _data(self) -> BaselineDataModule:
        data: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, BaselineDataModule)
        return data
