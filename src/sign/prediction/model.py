"""A trained model, loaded from its run folder: the network, and all that scoring needs besides a graph."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from sign.config.settings import Settings
from sign.datasets.base import Dataset
from sign.datasets.custom.dataset import Custom
from sign.diffusion.learned import FrozenOperator
from sign.diffusion.precompute import Powers, hop_names
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.operators.base import Operator
from sign.prediction.columns import decide
from sign.runs import CHECKPOINTS, Run
from sign.training.checkpoint_io import LEARNED, THRESHOLDS
from sign.training.task import SIGNTask
from sign.training.thresholds import DEFAULT


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A network with the inputs that it was trained on.

    ``hops`` are the hops of a wide row in order, with the columns of each; ``feature_scaling`` has the statistics of
    the training nodes; ``inductive`` is the protocol of training, from which operators derive their parameters.
    Without ``class_names``, classes are numbers. A label is assigned from its threshold on. ``fill_values`` are the
    means of the training nodes, one per feature, if they replace missing values. ``positions_of`` is the content hash
    of the adjacency whose Laplacian positions the network reads; None: it reads none.
    """

    task: SIGNTask
    hops: dict[str, int]
    features: int
    classes: int
    multilabel: bool
    class_names: list[str]
    feature_names: list[str]
    feature_scaling: FeatureScaling
    hop_scaling: str
    inductive: bool
    thresholds: list[float]
    fill_values: list[float]
    positions_of: str | None

    @classmethod
    def load(cls, run: Path, checkpoint: str = "best") -> Self:
        """Load a checkpoint of a run folder, without running code from it.

        Raises
        ------
        SignError
            If the folder has no such checkpoint, or it is damaged.
        """
        run, name = Run(run).best_stage.folder, f"{checkpoint}.ckpt"
        file = run / name if (run / name).is_file() else run / CHECKPOINTS / name
        if not file.is_file():
            raise SignError(f"run={run}: has no {CHECKPOINTS}/{file.name}; name the folder of a trained run")
        try:
            saved = torch.load(file, map_location="cpu", weights_only=True)
            task = SIGNTask(**saved["hyper_parameters"])
            task.load_state_dict(saved["state_dict"])
            task.thresholds = saved.get(THRESHOLDS)
            task.learned = saved.get(LEARNED, {})
            model = cls.of(task.eval())
        except Exception as error:
            raise SignError(
                f"{file}: not a checkpoint of SIGN ({type(error).__name__}); train the run again"
            ) from error
        if task.thresholds is None and task.multilabel and task.training_settings.threshold == "validation":
            raise SignError(
                f"{file}: has no thresholds, which the end of training chooses for the best checkpoint; use "
                "checkpoint=best of a finished run"
            )
        return model

    @classmethod
    def of(cls, task: SIGNTask) -> Self:
        """The model of a task that has been trained; labels without thresholds are decided at 0.5."""
        hparams: dict[str, Any] = dict(task.hparams)
        return cls(
            task=task,
            hops=hparams["hops"],
            features=hparams["features"],
            classes=hparams["classes"],
            multilabel=hparams["multilabel"],
            class_names=hparams["class_names"] or [],
            feature_names=hparams["feature_names"] or [],
            feature_scaling=FeatureScaling.from_plain(hparams["feature_scaling"]),
            hop_scaling=hparams["hop_scaling"],
            inductive=hparams["inductive"],
            thresholds=task.thresholds or [DEFAULT] * hparams["classes"],
            fill_values=hparams["fill_values"] or [],
            positions_of=hparams["positions_of"],
        )

    @property
    def columns(self) -> int:
        """Columns of a wide row: those of all hops side by side."""
        return sum(self.hops.values())

    @property
    def labels(self) -> list[str]:
        """The names of the classes, or their numbers."""
        return self.class_names or [str(number) for number in range(self.classes)]

    def decide(self, logits: Array) -> Array:
        """Which labels each row of a multilabel model has."""
        return decide(logits, self.thresholds)

    def operators(self, powers: Powers) -> Powers:
        """The operators as training applied them, with its learned weights, whatever the protocol of another graph."""
        return {letter: (self._operator(letter, operator), power) for letter, (operator, power) in powers.items()}

    def _operator(self, letter: str, operator: Operator) -> Operator:
        resolved = operator.resolve(self.inductive)
        if letter not in self.task.learned:
            return resolved
        return FrozenOperator.from_plain(resolved, self.task.learned[letter], self.feature_scaling)

    def check_graph(self, graph: Graph) -> None:
        """Raise SignError unless the graph has the features, and the positions, that the model was trained on."""
        if self.positions_of:
            self.check_positions(graph.name, graph.adjacency.digest)
        self.check_features(graph.name, graph.features.shape[1], graph.feature_names)

    def check_features(self, name: str, columns: int, names: Sequence[str]) -> None:
        """Raise SignError unless the graph ``name`` has the features that the model was trained on."""
        if columns != self.features:
            raise SignError(
                f"{name}: has {columns} features, but the model was trained on {self.features}; "
                "give it the same columns"
            )
        for ours, theirs in zip(self.feature_names, names, strict=False):
            if ours != theirs:
                raise SignError(
                    f"{name}: has the feature {theirs!r} where the model was trained on {ours!r}; "
                    "give it the same columns in the same order"
                )

    def check_positions(self, name: str, adjacency: str) -> None:
        """Raise SignError if the model reads positions, and those of nodes in this adjacency are others."""
        if self.positions_of not in (None, adjacency):
            raise SignError(
                f"{name}: the model reads Laplacian positions, which mean nothing in another graph than that of its "
                "training; train one with model.positions=0"
            )

    def check_hops(self, settings: Settings) -> None:
        """Raise SignError unless the settings of the run name the hops that the network was trained on."""
        names = hop_names(settings.powers, settings.branches)
        if names != list(self.hops):
            raise SignError(
                f"the configuration of the run names the hops {', '.join(names)}, but the network was trained on "
                f"{', '.join(self.hops)}; restore its config.yaml"
            )

    def as_trained(self, dataset: Dataset) -> Dataset:
        """The data set, whose missing features are the means of training and whose categories are those of training."""
        if isinstance(dataset, Custom):
            means = self.fill_values if dataset.fill == "mean" and self.fill_values else None
            return replace(dataset, fill_values=means, known_features=self.feature_names)
        return dataset

    def with_classes(self, graph: Graph) -> Graph:
        """The labelled graph with its classes numbered as those of the model.

        Raises
        ------
        SignError
            If the graph has a class that the model does not know, or several labels per node where it has one.
        """
        if graph.multilabel != self.multilabel:
            kinds = ("one label per node", "several labels per node")
            raise SignError(
                f"{graph.name}: has {kinds[graph.multilabel]}, but the model was trained on {kinds[self.multilabel]}; "
                "use a graph of the same kind"
            )
        if not self.class_names or not graph.class_names:
            if graph.classes > self.classes or (graph.multilabel and graph.classes != self.classes):
                raise SignError(
                    f"{graph.name}: has {graph.classes} classes, but the model was trained on {self.classes}; "
                    "evaluate it on the same classes"
                )
            return replace(graph, classes=self.classes)
        unknown = [name for name in graph.class_names if name not in self.class_names]
        if unknown:
            raise SignError(
                f"{graph.name}: has the class {unknown[0]!r}, which the model does not know; its classes are "
                f"{', '.join(self.class_names[:10])}{', …' * (self.classes > 10)}"
            )
        numbers = np.array([self.class_names.index(name) for name in graph.class_names])
        if graph.multilabel:
            labels = np.zeros((graph.nodes, self.classes), graph.labels.dtype)
            labels[:, numbers] = graph.labels
        else:
            labels = np.where(graph.labels < 0, -1, numbers[graph.labels])
        return replace(graph, labels=labels, classes=self.classes, class_names=tuple(self.class_names))
