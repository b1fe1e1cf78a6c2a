"""Random features and labels are reproducible; random splits are disjoint, sorted and complete as well."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets import sampling
from sign.datasets.sampling import multilabel_matrix, normal_features, split_by_fraction, split_per_class
from sign.system import arrays, memory

seeds = st.integers(0, 2**32 - 1)


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


@given(labels=st.lists(st.integers(-1, 3), min_size=1, max_size=80), seed=seeds)
def test_each_class_gives_the_same_number_of_nodes(labels: list[int], seed: int) -> None:
    values = np.array(labels)
    train, val, test = split_per_class(values, 4, 3, 2, seed)
    for label in range(4):
        size = int((values == label).sum())
        assert (values[train] == label).sum() == min(3, size)
        assert (values[val] == label).sum() == min(2, max(size - 3, 0))
    assert sorted([*train, *val, *test]) == np.flatnonzero(values >= 0).tolist()
    for part in (train, val, test):
        assert (np.diff(part) > 0).all()


@given(nodes=st.integers(1, 200), train=st.floats(0.01, 0.6), val=st.floats(0.01, 0.39), seed=seeds)
def test_fractions_partition_the_nodes(nodes: int, train: float, val: float, seed: int) -> None:
    parts = split_by_fraction(nodes, train, val, seed)
    assert np.sort(np.concatenate(parts)).tolist() == list(range(nodes))
    assert abs(len(parts[0]) - train * nodes) <= 0.5
    assert abs(len(parts[1]) - val * nodes) <= 1
    assert all((np.diff(part) > 0).all() for part in parts)


def test_equal_seeds_give_equal_splits() -> None:
    first, again, other = (split_by_fraction(1000, 0.5, 0.25, seed)[0] for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
