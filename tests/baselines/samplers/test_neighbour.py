"""Neighbour sampling is uniform without replacement, and its estimator is unbiased."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from common.sampling import WHEEL, dense, follows, outcomes, random_matrix, row_normalized

from sign.baselines.samplers.neighbour import NeighbourSampler
from sign.errors import SignError
from sign.graph.csr import CSR

WHEEL_MATRIX = row_normalized(WHEEL, 7)


def sampler(fanouts: list[int], matrix: CSR = WHEEL_MATRIX, **options: int) -> NeighbourSampler:
    return NeighbourSampler(
        adjacency=matrix, targets=np.arange(matrix.nodes), **{"batch_size": 3, **options}, fanouts=fanouts
    )


@pytest.mark.parametrize("row", range(7))
def test_every_subset_is_equally_likely_and_the_mean_over_them_is_exact(row: int) -> None:
    fanout = 2
    full = WHEEL_MATRIX.to_scipy().toarray()[row]
    neighbours = np.flatnonzero(full)
    size = min(fanout, len(neighbours))
    found = outcomes(
        lambda key: sampler([fanout]).sample(np.array([row, 6 if row != 6 else 0]), key),
        lambda batch: tuple(sorted(batch.nodes[0][batch.blocks[0].indices[: batch.blocks[0].indptr[1]]])),
        draws=1500,
    )
    likely = 1 / comb(len(neighbours), size)
    assert follows(found, dict.fromkeys(combinations(neighbours, size), likely))
    mean = sum(likely * dense(batch.blocks[0], batch.nodes[0], 7)[0] for _, batch in found.values())
    np.testing.assert_allclose(mean, full, atol=1e-6)


def test_a_mean_of_neighbours_stays_a_mean() -> None:
    batch = sampler([2]).sample(np.arange(7), np.uint64(5))
    np.testing.assert_allclose(batch.blocks[0].to_scipy().sum(axis=1), 1, atol=1e-6)


def test_each_layer_starts_with_the_nodes_of_the_layer_above() -> None:
    matrix = random_matrix(60, 400)
    batch = sampler([3, 2, 4], matrix).sample(np.array([5, 9, 2]), np.uint64(1))
    full = matrix.to_scipy().toarray()
    assert batch.nodes[-1].tolist() == [5, 9, 2]
    for inputs, outputs, block, fanout in zip(batch.nodes, batch.nodes[1:], batch.blocks, [4, 2, 3], strict=False):
        assert np.array_equal(inputs[: len(outputs)], outputs)
        assert len(np.unique(inputs)) == len(inputs) == block.columns
        sampled = dense(block, inputs, 60)
        degrees = (full[outputs] > 0).sum(axis=1)
        assert np.array_equal(np.diff(block.indptr), np.minimum(fanout, degrees))
        scale = np.maximum(degrees, 1) / np.maximum(np.minimum(fanout, degrees), 1)
        np.testing.assert_allclose(sampled, (sampled > 0) * full[outputs] * scale[:, None], rtol=1e-6)


def test_large_fanouts_give_the_product_without_sampling() -> None:
    matrix = random_matrix(60, 400)
    batch = sampler([100, 100], matrix).sample(np.array([7, 3]), np.uint64(0))
    full, h = matrix.to_scipy(), np.random.default_rng(0).random((60, 2))
    lower, upper = (block.to_scipy() for block in batch.blocks)
    np.testing.assert_allclose(upper @ (lower @ h[batch.nodes[0]]), (full @ (full @ h))[[7, 3]], rtol=1e-5)


def test_a_matrix_without_weights_has_ones() -> None:
    pattern = CSR(WHEEL_MATRIX.indptr, WHEEL_MATRIX.indices)
    block = sampler([9], pattern).sample(np.arange(7), np.uint64(0)).blocks[0]
    np.testing.assert_array_equal(block.weights, 1)


@pytest.mark.parametrize("fanouts", [[0], [3, 0], [-1], []])
def test_bad_fanouts(fanouts: list[int]) -> None:
    with pytest.raises(SignError, match=r"fanouts=.*must"):
        sampler(fanouts)
