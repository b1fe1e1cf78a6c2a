"""An epoch by chunks shows every row once, mixes rows of distant chunks, and divides chunks between ranks."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.training.chunks import CHUNK_BYTES, MIXED_CHUNKS, Chunks
from sign.training.file_rows import layout
from sign.training.rows import rank_slice


def batches(rows: int, size: int) -> list[slice]:
    return [slice(*bounds) for bounds in pairwise([*range(0, rows, size), rows])]


@given(st.integers(0, 3000), st.integers(1, 90), st.integers(0, 5), st.integers(1, 4))
def test_an_epoch_is_a_permutation_for_any_number_of_ranks(rows: int, chunk_rows: int, epoch: int, world: int) -> None:
    plan = Chunks(rows, chunk_rows).epoch(seed=3, epoch=epoch)
    order, ordered = plan.order, plan.for_ranks(batches(rows, 64), world)
    assert sorted(order) == list(range(rows))
    for batch in batches(rows, 64):
        assert sorted(ordered[batch]) == sorted(order[batch])


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    chunks = Chunks(1000, 10)
    assert (chunks.epoch(1, 2).order == chunks.epoch(1, 2).order).all()
    assert (chunks.epoch(1, 2).order != chunks.epoch(1, 3).order).any()
    assert (chunks.epoch(1, 2).order != chunks.epoch(2, 2).order).any()


@given(st.integers(1, 10**8), st.integers(1, 10**6))
def test_chunks_are_as_large_as_a_disk_likes_and_enough_to_mix(rows: int, columns: int) -> None:
    chunks = Chunks.of(rows, columns)
    assert chunks.chunk_rows == 1 or chunks.chunk_rows * columns * 4 <= CHUNK_BYTES
    assert -(-rows // chunks.chunk_rows) >= min(rows, MIXED_CHUNKS) // 2


def test_every_batch_takes_equal_parts_of_all_chunks_of_its_group() -> None:
    chunks = Chunks(64 * 100, 100)
    plan = chunks.epoch(0, 0)
    assert [len(group) for group in plan.groups] == [32, 32]
    for batch in batches(6400, 320):
        counts = np.bincount(plan.order[batch] // 100, minlength=64)
        assert sorted(np.unique(counts)) == [0, 10]


@pytest.mark.parametrize("world", [2, 4, 8])
def test_ranks_read_disjoint_chunks(world: int) -> None:
    plan = Chunks(64 * 100, 100).epoch(0, 0)
    order = plan.for_ranks(batches(6400, 320), world)
    read = [set() for _ in range(world)]
    for batch in batches(6400, 320):
        for rank in range(world):
            read[rank] |= set((order[batch][rank_slice(320, rank, world)] // 100).tolist())
    assert sum(map(len, read)) == len(set.union(*read)) == 64


def test_the_share_of_a_class_varies_no_more_than_in_random_batches() -> None:
    """A share p of a class has a variance of p(1 - p)/n in random batches of n rows; here nodes are sorted by class."""
    by_class = np.arange(40_000) < 0.3 * 40_000
    labels, shares = by_class[layout(40_000)], []
    for epoch in range(20):
        order = Chunks(40_000, 250).epoch(0, epoch).order
        shares += [labels[order[batch]].mean() for batch in batches(40_000, 1000)]
    assert np.var(shares) < 1.15 * 0.3 * 0.7 / 1000
