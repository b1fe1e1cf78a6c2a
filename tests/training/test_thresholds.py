"""Thresholds chosen on validation data reach the best micro-F1 of all thresholds per label."""

from itertools import product

import numpy as np
import pytest

from sign.graph.csr import Array
from sign.training.thresholds import label_cuts, logit, probability, threshold_counts, validation_thresholds

Labels = list[tuple[Array, Array]]


def drawn(rows: int, labels: int, seed: int) -> Labels:
    """Logits with equal values, which are higher for positive nodes."""
    rng = np.random.default_rng(seed)
    found = []
    for rate in rng.uniform(0.1, 0.6, labels):
        positive = rng.random(rows) < rate
        found.append(((rng.integers(-4, 3, rows) + positive).astype(np.float32), positive))
    return found


def micro_f1(labels: Labels, thresholds: list[float]) -> float:
    true, predicted, actual = threshold_counts(labels, thresholds).sum(axis=1)
    return float(2 * true / max(predicted + actual, 1))


@pytest.mark.parametrize("seed", range(8))
def test_no_thresholds_have_a_higher_micro_f1(seed: int) -> None:
    labels = drawn(12, 3, seed)
    candidates = [[probability(value) for value in label_cuts(*label).thresholds] for label in labels]
    best = max(micro_f1(labels, list(thresholds)) for thresholds in product(*candidates))
    assert micro_f1(labels, validation_thresholds(labels)) == pytest.approx(best)


def test_a_label_without_a_positive_node_keeps_one_half() -> None:
    logits = np.array([-3.0, -2.0, -1.0], np.float32)
    thresholds = validation_thresholds([(logits, np.array([False, False, True])), (logits, np.zeros(3, bool))])
    assert thresholds == [pytest.approx(probability(-1.5)), 0.5]


def test_a_label_that_is_hardly_better_than_chance_is_never_predicted() -> None:
    easy = (np.linspace(-1, 1, 100), np.linspace(-1, 1, 100) > 0)
    hopeless = (np.linspace(-1, 1, 100), np.arange(100) == 20)
    assert validation_thresholds([easy, hopeless])[1] == 1.0
    assert threshold_counts([hopeless], [1.0])[1, 0] == 0


def test_probabilities_and_logits_are_inverse_and_may_be_infinite() -> None:
    assert [logit(probability(value)) for value in (-3.0, 0.0, 2.5)] == pytest.approx([-3.0, 0.0, 2.5])
    assert (logit(0.0), logit(1.0), probability(np.inf), probability(-np.inf)) == (-np.inf, np.inf, 1.0, 0.0)
