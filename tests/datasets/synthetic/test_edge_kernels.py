"""Edges depend on the seed and their number only, connect existing nodes, and prefer communities."""

import numpy as np
import pytest

from sign.datasets.synthetic.edge_kernels import INSIDE, draw_edges, popular_rank, uniform

NODES, COMMUNITIES, FACTOR = 900, 9, 551


def draw(first: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    source, target = np.empty(count, np.int32), np.empty(count, np.int32)
    draw_edges(seed, first, NODES, COMMUNITIES, FACTOR, source, target)
    return source, target


def test_any_range_of_edges_can_be_drawn() -> None:
    whole = np.stack(draw(0, 2000))
    assert (np.stack(draw(500, 700)) == whole[:, 500:1200]).all()
    assert (np.stack(draw(0, 2000, seed=1)) != whole).any()


def test_edges_connect_two_different_nodes_mostly_of_one_community() -> None:
    source, target = draw(0, 20_000)
    for ends in (source, target):
        assert ends.min() >= 0
        assert ends.max() < NODES
    assert (source != target).all()
    community = np.arange(NODES) * pow(FACTOR, -1, NODES) % NODES % COMMUNITIES
    same = (community[source] == community[target]).mean()
    assert abs(same - (INSIDE + (1 - INSIDE) / COMMUNITIES)) < 0.02


@pytest.mark.parametrize(("bits", "number"), [(0, 0.0), (2**63, 0.5), (2**64 - 1, 1 - 2.0**-53)])
def test_bits_become_numbers_below_one(bits: int, number: float) -> None:
    assert uniform(np.uint64(bits)) == number
    assert 0 <= popular_rank(np.uint64(bits), 10) < 10


def test_low_ranks_are_more_popular() -> None:
    bits = np.random.default_rng(0).integers(0, 2**64, 5000, np.uint64)
    counts = np.bincount([popular_rank(each, 100) for each in bits], minlength=100)
    assert counts[:10].sum() > 2 * counts[50:60].sum()
