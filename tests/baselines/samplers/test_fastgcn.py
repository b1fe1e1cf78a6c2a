"""FastGCN's probabilities are those of its paper, and its estimator is unbiased."""

from itertools import product

import numpy as np
import pytest
from common.sampling import dense, follows, outcomes, random_matrix, row_normalized

from sign.baselines.samplers.fastgcn import FastGCNSampler, ImportanceBatch
from sign.errors import SignError
from sign.graph.csr import CSR

SMALL = row_normalized([(0, 1), (1, 2), (1, 3), (2, 3)], 5)  # node 4 is isolated


def sampler(sizes: list[int], matrix: CSR = SMALL, **options: int) -> FastGCNSampler:
    return FastGCNSampler(
        adjacency=matrix, targets=np.arange(matrix.nodes), **{"batch_size": 3, **options}, sizes=sizes
    )


def test_probabilities_are_the_squared_norms_of_the_columns() -> None:
    for matrix in (SMALL, random_matrix(40, 200)):
        squares = (matrix.to_scipy().toarray().astype(np.float64) ** 2).sum(axis=0)
        q = sampler([5], matrix).probabilities(np.arange(matrix.nodes))
        np.testing.assert_allclose(q, squares / squares.sum(), rtol=1e-6, atol=1e-15)


def test_draws_are_independent_and_the_estimator_is_unbiased() -> None:
    rows, q = np.array([3, 1, 4]), sampler([2]).probabilities(np.arange(5))
    expected: dict[tuple[int, ...], float] = {}
    for drawn in product(range(4), repeat=2):
        name = tuple(sorted(drawn))
        expected[name] = expected.get(name, 0) + q[drawn[0]] * q[drawn[1]]

    def name_of(batch: ImportanceBatch) -> tuple[int, ...]:
        return tuple(np.repeat(batch.nodes[0], batch.draws[0]).tolist())

    found = outcomes(lambda key: sampler([2]).sample(rows, key), name_of)
    assert follows(found, expected)
    mean = sum(expected[name] * dense(batch.blocks[0], batch.nodes[0], 5) for name, (_, batch) in found.items())
    np.testing.assert_allclose(mean, SMALL.to_scipy().toarray()[rows], atol=1e-6)


def test_every_layer_has_the_weights_of_the_paper() -> None:
    matrix, sizes = random_matrix(40, 200), [6, 9]
    full = matrix.to_scipy().toarray()
    batch = sampler(sizes, matrix).sample(np.array([8, 1]), np.uint64(3))
    for layer, size in zip((1, 0), sizes, strict=True):
        columns, draws, q = batch.nodes[layer], batch.draws[layer], batch.probabilities[layer]
        assert draws.sum() == size
        weights = full[np.ix_(batch.nodes[layer + 1], columns)] * draws / (size * q)
        np.testing.assert_allclose(batch.blocks[layer].to_scipy().toarray(), weights, rtol=1e-5)


def test_bad_sizes() -> None:
    for sizes in ([0], []):
        with pytest.raises(SignError, match=r"sizes=.*must"):
            sampler(sizes)
