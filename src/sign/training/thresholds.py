"""Thresholds of multilabel decisions, one per label, chosen on validation data to maximise the micro-F1.

The micro-F1, 2 Σ true / Σ (predicted + actual), is a ratio of sums over labels, so a label cannot be treated by
itself: the threshold with the best F1 of each label maximises the macro-F1, and predicts too much of rare labels. For
a given ratio λ, the thresholds that maximise Σ (2 true − λ predicted) are found label by label; λ is then replaced by
the micro-F1 that they reach, until it no longer grows. That is Dinkelbach's method for ratios (1967), and its result
is the maximum over all thresholds.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sign.graph.csr import Array

DEFAULT = 0.5  # also of a label without a positive validation node


class Cuts(NamedTuple):
    """The thresholds of a label that are worth considering: one below each positive, and one above all scores.

    For each, the number of positives and of all nodes that exceed it.
    """

    thresholds: Array
    true: Array
    predicted: Array

    def at(self, index: int) -> tuple[float, int, int]:
        """One cut."""
        return float(self.thresholds[index]), int(self.true[index]), int(self.predicted[index])


def validation_thresholds(labels: Iterable[tuple[Array, Array]]) -> list[float]:
    """The probability above which each label is predicted, from its logits and whether a node has it.

    It is 1 for a label that is better never predicted, and 0.5 for one without a positive node.
    """
    cuts, actual = [], 0
    for logits, positive in labels:
        cuts.append(label_cuts(logits, positive))
        actual += int(positive.sum())
    chosen, ratio, before = [], 0.0, -1.0
    while ratio > before:
        before = ratio
        chosen = [cut.at(int(np.argmax(2 * cut.true - ratio * cut.predicted))) for cut in cuts]
        _, true, predicted = map(sum, zip(*chosen, strict=True))
        ratio = 2 * true / max(predicted + actual, 1)
    return [probability(choice[0]) if len(cut.true) > 1 else DEFAULT for cut, choice in zip(cuts, chosen, strict=True)]


def label_cuts(logits: Array, positive: Array) -> Cuts:
    """The cuts of one label."""
    every, hits = np.sort(logits).astype(np.float64), np.unique(logits[positive])
    below = np.searchsorted(every, hits)
    next_lower = np.where(below > 0, every[np.maximum(below - 1, 0)], -np.inf)
    true = positive.sum() - np.searchsorted(np.sort(logits[positive]), hits)
    return Cuts(
        thresholds=np.append((hits + next_lower) / 2, np.inf),
        true=np.append(true, 0),
        predicted=np.append(len(every) - below, 0),
    )


def threshold_counts(labels: Iterable[tuple[Array, Array]], thresholds: Iterable[float]) -> Array:
    """True, predicted and actual positives of each label, decided by thresholds."""
    counts = []
    for (logits, positive), threshold in zip(labels, thresholds, strict=True):
        predicted = logits > logit(threshold)
        counts.append([(predicted & positive).sum(), predicted.sum(), positive.sum()])
    return np.array(counts, np.float64).T


def probability(logit: float) -> float:
    """The sigmoid of a logit, which may be infinite."""
    with np.errstate(over="ignore"):
        return float(1 / (1 + np.exp(-np.float64(logit))))


def logit(probability: float) -> float:
    """The logit of a probability; infinite for 0 and 1."""
    with np.errstate(divide="ignore"):
        return float(np.log(np.float64(probability)) - np.log1p(-np.float64(probability)))
