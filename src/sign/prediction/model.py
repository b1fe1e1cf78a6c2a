"""A trained model, loaded from its run folder: the network, and all that scoring needs besides a graph."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from sign.diffusion.precompute import Powers
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.runs import CHECKPOINTS, THRESHOLDS
from sign.system.json_files import read_json
from sign.training.task import SIGNTask
from sign.training.thresholds import DEFAULT, logit


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A network with the inputs that it was trained on.

    ``hops`` names the hops in the order of the network's branches; ``feature_scaling`` has the statistics of the
    training nodes; ``inductive`` is the protocol of training, from which operators derive their parameters. Without
    ``class_names``, classes are numbers. A label is assigned from its threshold on.
    """

    task: SIGNTask
    hops: list[str]
    features: int
    classes: int
    multilabel: bool
    class_names: list[str]
    feature_names: list[str]
    feature_scaling: FeatureScaling
    hop_scaling: str
    inductive: bool
    thresholds: list[float]

    @classmethod
    def load(cls, run: Path, checkpoint: str = "best") -> Self:
        """Load a checkpoint of a run folder, without running code from it.

        Raises
        ------
        SignError
            If the folder has no such checkpoint, or it is damaged.
        """
        file = run / CHECKPOINTS / f"{checkpoint}.ckpt"
        if not file.is_file():
            raise SignError(f"run={run}: has no {CHECKPOINTS}/{file.name}; name the folder of a trained run")
        try:
            saved = torch.load(file, map_location="cpu", weights_only=True)
            task = SIGNTask(**saved["hyper_parameters"])
            task.load_state_dict(saved["state_dict"])
        except Exception as error:
            raise SignError(
                f"{file}: not a checkpoint of SIGN ({type(error).__name__}); train the run again"
            ) from error
        recorded = run / THRESHOLDS
        return cls.of(task.eval(), read_json(recorded)["thresholds"] if recorded.is_file() else None)

    @classmethod
    def of(cls, task: SIGNTask, thresholds: list[float] | None = None) -> Self:
        """The model of a task that has been trained; labels without ``thresholds`` are decided at 0.5."""
        hparams: dict[str, Any] = dict(task.hparams)
        return cls(
            task=task,
            hops=hparams["branches"],
            features=hparams["features"],
            classes=hparams["classes"],
            multilabel=hparams["multilabel"],
            class_names=hparams["class_names"] or [],
            feature_names=hparams["feature_names"] or [],
            feature_scaling=FeatureScaling.from_plain(hparams["feature_scaling"]),
            hop_scaling=hparams["hop_scaling"],
            inductive=hparams["inductive"],
            thresholds=thresholds or [DEFAULT] * hparams["classes"],
        )

    @property
    def labels(self) -> list[str]:
        """The names of the classes, or their numbers."""
        return self.class_names or [str(number) for number in range(self.classes)]

    def decide(self, logits: Array) -> Array:
        """Which labels each row of a multilabel model has."""
        return logits > np.array([logit(threshold) for threshold in self.thresholds])

    def operators(self, powers: Powers) -> Powers:
        """The operators as training applied them, whatever the protocol of another graph."""
        return {letter: (operator.resolve(self.inductive), power) for letter, (operator, power) in powers.items()}

    def check_graph(self, graph: Graph) -> None:
        """Raise SignError unless the graph has the features that the model was trained on."""
        columns = graph.features.shape[1]
        if columns != self.features:
            raise SignError(
                f"{graph.name}: has {columns} features, but the model was trained on {self.features}; "
                "give it the same columns"
            )
        for ours, theirs in zip(self.feature_names, graph.feature_names, strict=False):
            if ours != theirs:
                raise SignError(
                    f"{graph.name}: has the feature {theirs!r} where the model was trained on {ours!r}; "
                    "give it the same columns in the same order"
                )

    def with_classes(self, graph: Graph) -> Graph:
        """The graph with its classes numbered as those of the model.

        Raises
        ------
        SignError
            If the graph has a class that the model does not know.
        """
        if not self.class_names or not graph.class_names:
            if graph.classes != self.classes:
                raise SignError(
                    f"{graph.name}: has {graph.classes} classes, but the model was trained on {self.classes}; "
                    "evaluate it on the same classes"
                )
            return graph
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
