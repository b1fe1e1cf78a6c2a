"""The accuracy or micro-F1 of an exported model, beside that of its checkpoint."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import torch

from sign.config.settings import Settings
from sign.datasets.exported_hops import ExportedHops
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import diffuse
from sign.graph.csr import Array
from sign.prediction.model import TrainedModel
from sign.prediction.node_hops import hops_of
from sign.prediction.scoring import Score, StoredRows, score_of

MEASURED = ("val", "test")


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """The hops of validation and test nodes, and their labels."""

    hops: Hops
    labels: dict[str, Array]

    @classmethod
    def of_run(cls, settings: Settings, model: TrainedModel) -> Self:
        """Those of the graph that the model was trained on, or of another one with the same classes."""
        dataset = settings.dataset
        with settings.engine.limits(Path(settings.store.root)):
            if isinstance(dataset, ExportedHops):
                classification = dataset.classification(model.feature_scaling)
                hops = diffuse(classification, settings.powers, settings.engine, settings.store, settings.branches)
                return cls(hops, {split: classification.labels[split] for split in MEASURED})
            graph = model.as_trained(dataset).load()
            model.check_graph(graph)
            graph = model.with_classes(graph)
            nodes = {split: graph.nodes_of(split) for split in MEASURED}
            hops = hops_of(settings, model, graph, np.concatenate(list(nodes.values())))
            return cls(hops, {split: graph.labels[nodes[split]] for split in MEASURED})


def compare(
    settings: Settings, model: TrainedModel, labelled: LabelledRows, exported: Score, output: str
) -> dict[str, dict[str, float]]:
    """The metric of each split that has nodes, of the ``checkpoint`` and of what was ``exported``."""
    name = "micro_f1" if model.multilabel else "accuracy"
    metrics = {}
    with settings.engine.limits(Path(settings.store.root)):
        for split, labels in labelled.labels.items():
            if len(labels):
                rows = StoredRows(labelled.hops, split, model.hop_scaling)
                metrics[f"{split}/{name}"] = _compare_rows(model, rows, labels, exported, output)
    return metrics


def _compare_rows(
    model: TrainedModel, rows: StoredRows, labels: Array, exported: Score, output: str
) -> dict[str, float]:
    scores = {"checkpoint": (score_of(model), "logits"), "exported": (exported, output)}
    counts = {name: np.zeros(3) for name in scores}
    for part, block in rows.blocks():
        with torch.inference_mode():
            for name, (score, what) in scores.items():
                counts[name] += _count(model, score(block).numpy(), labels[part], what)
    return {name: float(2 * true / max(predicted + actual, 1)) for name, (true, predicted, actual) in counts.items()}


def _count(model: TrainedModel, scores: Array, labels: Array, output: str) -> Array:
    """True, predicted and actual positives; of single labels, whose micro-F1 is the accuracy, every row is both."""
    if not model.multilabel:
        return np.array([(scores.argmax(axis=1) == labels).sum(), len(labels), len(labels)])
    decided = model.decide(scores) if output == "logits" else scores > np.array(model.thresholds)
    return np.array([(decided & (labels > 0)).sum(), decided.sum(), (labels > 0).sum()])
