r"""Ranking metrics of the scores of one class: the area under the ROC curve, and average precision.

Both are exact and need one sort. With P positives and N negatives, and for a positive of score s the number of all
scores below s, those up to s, and those from s:

.. math::
    AUC = \frac{1}{P N} \left( \sum_{positives} \frac{below + upto}{2} - \frac{P^2}{2} \right), \qquad
    AP = \frac{1}{P} \sum_{positives} \frac{positives\ from\ s}{all\ from\ s}

so that a pair of equal scores counts half in the first, and equal scores share one threshold in the second.
"""

from collections.abc import Iterable

import numpy as np

from sign.graph.csr import Array


def ranking_metrics(classes: Iterable[tuple[Array, Array]]) -> dict[str, float]:
    """The means over classes of both metrics, from the scores of each class and whether a node is positive.

    A class without a positive node has neither metric, one without a negative node has no AUC; such a class is left
    out, and so is a metric that no class has.
    """
    metrics: dict[str, list[float]] = {"roc_auc": [], "average_precision": []}
    for scores, positive in classes:
        auc, precision = auc_and_precision(scores, positive)
        metrics["roc_auc"] += [] if auc is None else [auc]
        metrics["average_precision"] += [] if precision is None else [precision]
    return {name: float(np.mean(values)) for name, values in metrics.items() if values}


def auc_and_precision(scores: Array, positive: Array) -> tuple[float | None, float | None]:
    """The area under the ROC curve and the average precision of one class; None where it is not defined.

    >>> auc_and_precision(np.array([0.9, 0.8, 0.7, 0.1]), np.array([True, False, True, False]))
    (0.75, 0.8333333333333333)
    """
    every, hits = np.sort(scores), np.sort(scores[positive])
    if not len(hits):
        return None, None
    if np.isnan(every[-1]):  # the largest in the order of numpy
        return float("nan"), float("nan")
    positives, negatives = len(hits), len(every) - len(hits)
    below, up_to = np.searchsorted(every, hits), np.searchsorted(every, hits, "right")
    true = positives - np.searchsorted(hits, hits)
    precision = float(np.mean(true / (len(every) - below)))
    if not negatives:
        return None, precision
    return float((below + up_to).sum() - positives**2) / (2 * positives * negatives), precision
