"""One sort gives the ranking metrics of torchmetrics, with equal scores, for classes that have them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics.functional.classification import binary_auroc, binary_average_precision

from sign.training.ranking import auc_and_precision, ranking_metrics

ROWS = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=40)


@given(ROWS)
def test_auc_and_average_precision_are_those_of_torchmetrics(rows: list[tuple[int, bool]]) -> None:
    scores = np.array([score / 8 for score, _ in rows], np.float32)  # few values: many are equal
    positive = np.array([positive for _, positive in rows])
    auc, precision = auc_and_precision(scores, positive)
    if not positive.any():
        assert auc is None
        assert precision is None
        return
    exact = (torch.from_numpy(scores).double(), torch.from_numpy(positive).long())
    assert precision == pytest.approx(float(binary_average_precision(*exact)))
    assert auc is None if positive.all() else auc == pytest.approx(float(binary_auroc(*exact)))


def test_metrics_are_means_over_the_classes_that_have_them() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.1])
    usual, never, always = np.array([True, False, True, False]), np.zeros(4, bool), np.ones(4, bool)
    assert ranking_metrics([(scores, usual), (scores, never)]) == {
        "roc_auc": 0.75,
        "average_precision": pytest.approx(5 / 6),
    }
    mixed = ranking_metrics([(scores, usual), (scores, always)])
    assert mixed == {"roc_auc": 0.75, "average_precision": pytest.approx((5 / 6 + 1) / 2)}
    assert ranking_metrics([(scores, never)]) == {}


def test_a_score_that_is_not_a_number_gives_none_either() -> None:
    auc, precision = auc_and_precision(np.array([0.2, np.nan, 0.1]), np.array([True, False, False]))
    assert math.isnan(auc or 0)
    assert math.isnan(precision or 0)
