"""What is known of a graph before training."""

from dataclasses import replace

import numpy as np
import pytest

from sign.graph import profile
from sign.graph.features import SparseFeatures
from sign.graph.graph import Graph
from sign.graph.profile import Profile, profile_of
from sign.testing import path


def with_features(features: np.ndarray) -> Graph:
    return replace(path(len(features)), features=features, train=np.arange(len(features) - 1))


def test_only_training_rows_are_described() -> None:
    features = np.array([[1, 0, 0, 0], [0, 6, 0, 0], [2, 0, 0, 0], [-1, -1, -1, -1]], np.float32)
    described = profile_of(with_features(features))
    assert described == Profile(
        training_rows=3,
        classes=path(4).classes,
        multilabel=False,
        features=4,
        density=3 / 12,
        signed=False,
        column_ratio=6 / 4,  # columns without a value do not count
    )
    assert profile_of(with_features(-features)).signed


def test_sparse_features_and_features_that_are_all_zero() -> None:
    words = SparseFeatures(np.array([0, 2, 3, 3]), np.array([0, 2, 1]), columns=3)
    described = profile_of(replace(path(3), features=words, train=np.array([0, 1])))
    assert (described.density, described.column_ratio, described.signed) == (0.5, 1, False)
    assert profile_of(with_features(np.zeros((4, 2), np.float32))).column_ratio == 1


def test_a_large_graph_is_described_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    features = np.arange(400, dtype=np.float32).reshape(100, 4)
    graph = with_features(features)
    monkeypatch.setattr(profile, "SAMPLE_BYTES", 10 * 16)
    described = profile_of(graph)
    assert described.training_rows == 99
    assert described.column_ratio == pytest.approx(395 / 393.5)  # first and last row are in the sample
