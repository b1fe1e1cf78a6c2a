"""The predictions of a trained model for all nodes of a graph, and what smoothing makes of them."""

import numpy as np

from sign.config.settings import Settings
from sign.engines.progress import progress_bar
from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.prediction.model import TrainedModel
from sign.prediction.node_hops import SELECTED, hops_of
from sign.prediction.scoring import StoredRows, probabilities, score_of, scores
from sign.smoothing.base import Smoothed
from sign.smoothing.task import logits
from sign.system import arrays
from sign.training.thresholds import validation_thresholds


def smoothed_predictions(settings: Settings, model: TrainedModel, graph: Graph, precision: str = "float32") -> Smoothed:
    """Return the smoothed probabilities of all nodes; settings are chosen on the validation nodes of this graph."""
    raw = probabilities_of_all_nodes(settings, model, graph, precision)
    return settings.smoothing.apply(graph, raw, settings.engine)


def probabilities_of_all_nodes(
    settings: Settings, model: TrainedModel, graph: Graph, precision: str = "float32"
) -> Floats:
    """Return the probabilities of the classes of all nodes; their hops that the store lacks are computed."""
    hops = hops_of(settings, model, graph, np.arange(graph.nodes))
    result: Floats = arrays.empty((graph.nodes, model.classes), np.float32)
    rows = StoredRows(hops, SELECTED, model.hop_scaling)
    with progress_bar("predictions", len(rows), "nodes"):
        for part, values in scores(rows, score_of(model, precision=precision)):
            result[part] = probabilities(values, model.multilabel)
    return result


def smoothed_thresholds(model: TrainedModel, graph: Graph, smoothed: Floats) -> list[float]:
    """Return the thresholds of the labels, chosen on the smoothed validation rows if training chose them there."""
    if not model.multilabel or model.task.training_settings.threshold != "validation":
        return model.thresholds
    rows: Array = logits(smoothed[graph.val], multilabel=True)
    return validation_thresholds(zip(rows.T, (graph.labels[graph.val] > 0).T, strict=True))
