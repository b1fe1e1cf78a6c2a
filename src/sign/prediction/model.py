"""A trained model, loaded from its run folder: the network, and all that scoring needs besides a graph."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import torch

from sign.errors import SignError
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.runs import CHECKPOINTS
from sign.training.task import SIGNTask


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A network with the inputs that it was trained on.

    ``hops`` names the hops in the order of the network's branches; ``feature_scaling`` has the statistics of the
    training nodes. Without ``class_names``, classes are numbers.
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
        return cls.of(task.eval())

    @classmethod
    def of(cls, task: SIGNTask) -> Self:
        """The model of a task that has been trained."""
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
            thresholds=[0.5] * hparams["classes"],
        )

    @property
    def labels(self) -> list[str]:
        """The names of the classes, or their numbers."""
        return self.class_names or [str(number) for number in range(self.classes)]

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
