"""VR-GCN's estimator is unbiased for any history, and exact for a history that is up to date."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from common.sampling import WHEEL, follows, outcomes, random_matrix, row_normalized

from sign.baselines.samplers.vrgcn import ControlVariateBatch, VRGCNSampler
from sign.errors import SignError
from sign.graph.csr import CSR

WHEEL_MATRIX = row_normalized(WHEEL, 7)
RNG = np.random.default_rng(0)


def sampler(fanouts: list[int], matrix: CSR = WHEEL_MATRIX, **options: int) -> VRGCNSampler:
    return VRGCNSampler(
        adjacency=matrix, targets=np.arange(matrix.nodes), **{"batch_size": 3, **options}, fanouts=fanouts
    )


def estimate(batch: ControlVariateBatch, layer: int, h: np.ndarray, history: np.ndarray) -> np.ndarray:
    nodes, field = batch.nodes[layer], batch.fields[layer]
    sampled, complete = batch.blocks[layer].to_scipy(), batch.complete[layer].to_scipy()
    return sampled @ (h[nodes] - history[nodes]) + complete @ history[field]


@pytest.mark.parametrize("fanout", [1, 2])
def test_the_mean_over_all_samples_is_exact(fanout: int) -> None:
    row, neighbours = 0, range(1, 6)
    h, history = RNG.random((2, 7, 3))
    found = outcomes(
        lambda key: sampler([fanout]).sample(np.array([row]), key),
        lambda batch: tuple(sorted(batch.nodes[0][batch.blocks[0].indices])),
        draws=1000,
    )
    likely = 1 / comb(5, fanout)
    assert follows(found, dict.fromkeys(combinations(neighbours, fanout), likely))
    estimates = [estimate(batch, 0, h, history) for _, batch in found.values()]
    np.testing.assert_allclose(likely * sum(estimates), (WHEEL_MATRIX.to_scipy() @ h)[[row]], atol=1e-6)
    assert np.std(estimates, axis=0).min() > 0.01


def test_every_sample_is_exact_if_the_history_is() -> None:
    matrix, h = random_matrix(60, 400), RNG.random((60, 3))
    batch = sampler([2, 1], matrix).sample(np.array([5, 9, 2]), np.uint64(1))
    for layer in (0, 1):
        exact = (matrix.to_scipy() @ h)[batch.nodes[layer + 1]]
        np.testing.assert_allclose(estimate(batch, layer, h, h), exact, rtol=1e-5)


def test_the_field_is_the_complete_neighbourhood_after_the_sampled_nodes() -> None:
    matrix = random_matrix(60, 400)
    batch = sampler([2, 1], matrix).sample(np.array([5, 9, 2]), np.uint64(1))
    for layer in (0, 1):
        rows, nodes, field = batch.nodes[layer + 1], batch.nodes[layer], batch.fields[layer]
        assert np.array_equal(nodes[: len(rows)], rows)
        assert np.array_equal(field[: len(nodes)], nodes)
        neighbours = np.flatnonzero(matrix.to_scipy().toarray()[rows].any(axis=0))
        assert sorted(field) == sorted({*neighbours, *rows})


def test_zero_fanout() -> None:
    with pytest.raises(SignError, match="fanouts=0: must be an integer >= 1"):
        sampler([1, 0])
