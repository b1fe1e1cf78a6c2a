"""The task of a head: its network on rows of hops."""

from dataclasses import asdict
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from sign.diffusion.labels import LETTER
from sign.diffusion.positions import LETTER as POSITIONS
from sign.models.architecture import Architecture, from_plain
from sign.models.networks.base import HopNetwork
from sign.models.networks.sparse import WideRows
from sign.training.batch import Batch
from sign.training.checkpoint_io import LEARNED
from sign.training.datamodule import SIGNDataModule
from sign.training.node_task import NodeTask
from sign.training.settings import Training


class SIGNTask(NodeTask):
    """Node classification with SIGN, or another head, on the same hops.

    Parameters
    ----------
    features
        Columns of the features of the graph.
    hops
        The hops of a wide row in order, with the number of columns of each.
    architecture
        The head in plain values.
    evaluator
        The data set whose OGB evaluator computes the accuracy of the final test; None: our own counts.
    class_names, feature_names, feature_scaling, hop_scaling, inductive, fill_values, positions_of
        Kept in the checkpoint for predictions: what classes and features are called, how rows are scaled, the
        protocol, from which operators derive their parameters, what replaces missing features, and of a network that
        reads positions the hash of the adjacency that they belong to.

    Attributes
    ----------
    learned
        The parameters of operators that learn some, by letter, which the checkpoint keeps beside the network.
    """

    same_network: ClassVar = ("hops", "classes", "multilabel", "architecture")
    network: HopNetwork
    learned: dict[str, dict[str, Any]]

    def __init__(
        self,
        features: int,
        hops: dict[str, int],
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
        positions_of: str | None = None,
    ) -> None:
        super().__init__(classes, multilabel, Training(**training), seed, evaluator)
        self.save_hyperparameters()
        self.network = from_plain(architecture).network(hops, classes)
        self.label_columns = label_columns(hops)
        self.label_dropout = nn.Dropout(self.training_settings.label_dropout)
        self.learned = {}

    @classmethod
    def for_data(cls, data: SIGNDataModule, architecture: Architecture, training: Training, seed: int) -> Self:
        """The task of a prepared data module, whose sizes it takes."""
        task = cls(
            features=data.features,
            hops=data.columns,
            classes=data.classification.classes,
            multilabel=data.classification.multilabel,
            architecture=architecture.to_plain(),
            training=asdict(training),
            seed=seed,
            evaluator=data.classification.evaluator,
            class_names=list(data.classification.class_names),
            feature_names=list(data.classification.feature_names),
            feature_scaling=data.classification.feature_scaling.to_plain(),
            hop_scaling=data.hop_scaling,
            inductive=data.precomputation.dataset.inductive,
            fill_values=list(data.classification.fill_values),
            positions_of=data.classification.scopes[0].source["adjacency"] if f"{POSITIONS}1" in data.columns else None,
        )
        task.learned = {letter: operator.to_plain() for letter, operator in data.hops.learned.items()}
        return task

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Keep the learned parameters of operators, with which predictions weight the edges of any graph."""
        if self.learned:
            checkpoint[LEARNED] = {
                letter: {**values, "parameters": torch.from_numpy(values["parameters"])}
                for letter, values in self.learned.items()
            }

    def forward(self, rows: WideRows) -> Tensor:
        """Logits."""
        logits: Tensor = self.network(rows)
        return logits

    def training_step(self, batch: Batch, index: int) -> Tensor:
        """The loss of one minibatch: a mean over its rows on all ranks, whose gradients DDP averages."""
        batch = batch._replace(rows=self._without_some_labels(batch.rows))
        return self._evaluate(batch, "train") * (self.trainer.world_size / batch.total)

    def _without_some_labels(self, rows: WideRows) -> WideRows:
        """The rows, of which some have zeros in their label hops, as a node has that no label reaches."""
        if not self.label_dropout.p or not self.label_columns:
            return rows
        assert isinstance(rows, Tensor)  # no hop stays sparse with label dropout
        kept = self.label_dropout(rows.new_ones(len(rows), 1)) > 0
        rows = rows.clone()
        rows[:, self.label_columns.start : self.label_columns.stop] *= kept
        return rows


def label_columns(hops: dict[str, int]) -> range:
    """The columns of the label hops in a wide row.

    >>> label_columns({"X": 3, "p1": 3, "l1": 2, "l2": 2})
    range(6, 10)
    """
    columns: list[int] = []
    first = 0
    for name, width in hops.items():
        columns += range(first, first + width) if name.rstrip("0123456789") == LETTER else ()
        first += width
    return range(columns[0], columns[-1] + 1) if columns else range(0)
