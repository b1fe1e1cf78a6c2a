"""Random splits are disjoint, sorted, complete and reproducible."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.splits import split_by_fraction, split_per_class

seeds = st.integers(0, 2**32 - 1)


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
