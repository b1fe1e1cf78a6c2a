"""Labels of the training nodes as scores, and how well scores predict the labels of the validation nodes."""

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph


def one_hot(labels: Array, classes: int) -> Floats:
    """Return a row of zeros and ones per label; multilabel rows are ones and zeros already."""
    if labels.ndim == 2:
        return labels.astype(np.float32)
    rows = np.zeros((len(labels), classes), np.float32)
    rows[np.arange(len(labels)), labels] = 1
    return rows


def validation_score(graph: Graph, scores: Floats) -> float:
    """Return the accuracy on the validation nodes, or the micro-F1 of labels whose probability exceeds 0.5."""
    labels, predicted = graph.labels[graph.val], scores[graph.val]
    if not graph.multilabel:
        return float((predicted.argmax(axis=1) == labels).mean())
    positive, actual = predicted > 0.5, labels > 0
    return float(2 * (positive & actual).sum() / max(positive.sum() + actual.sum(), 1))
