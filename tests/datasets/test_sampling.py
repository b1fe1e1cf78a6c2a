"""Random features and labels."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets import sampling
from sign.datasets.sampling import multilabel_matrix, normal_features
from sign.system import arrays, memory


def test_features_are_standard_normal_around_their_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "ROWS", 64)
    means = np.arange(1000, dtype=np.float32)[:, None]
    features = normal_features(1000, 20, [3], lambda rows: means[rows])
    noise = features - means
    assert abs(noise.mean()) < 0.03
    assert abs(noise.std() - 1) < 0.03
    assert (normal_features(1000, 20, [3]) == normal_features(1000, 20, [3])).all()
    assert (normal_features(1000, 20, [3]) != normal_features(1000, 20, [4])).any()
    assert (normal_features(1000, 20, [3])[:64] == normal_features(64, 20, [3])).all()


def test_features_beyond_the_budget_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    with memory.limit(0, tmp_path):
        mapped = normal_features(500, 3, [1])
    assert arrays.memory_map(mapped) is not None
    assert (mapped == normal_features(500, 3, [1])).all()


def test_labels_of_a_community_agree_but_for_flips() -> None:
    community = np.repeat(np.arange(4), 500)
    labels = multilabel_matrix(np.random.default_rng(0), community, 4, np.float64)
    for number in range(4):
        frequencies = labels[community == number].mean(axis=0)
        assert ((frequencies < 0.1) | (frequencies > 0.9)).all()
