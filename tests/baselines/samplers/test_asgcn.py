"""AS-GCN draws by its formula, and its estimator is unbiased for any scores."""

from itertools import product

import numpy as np
import pytest
from common.sampling import dense, follows, outcomes, random_matrix, row_normalized

from sign.baselines.samplers.asgcn import AdaptiveBatch, ASGCNSampler
from sign.errors import SignError
from sign.graph.csr import CSR

SMALL = row_normalized([(0, 1), (1, 2), (1, 3), (2, 3), (3, 4)], 6)  # node 5 is isolated
SCORES = np.array([1.0, -2.0, 0.5, 3.0, 0.8, 1.0])


def sampler(sizes: list[int], matrix: CSR = SMALL, scores: np.ndarray = SCORES, **options: int) -> ASGCNSampler:
    targets = np.arange(matrix.nodes)
    return ASGCNSampler(adjacency=matrix, targets=targets, **{"batch_size": 3, **options}, sizes=sizes, scores=scores)


def probabilities(matrix: CSR, rows: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """q of the paper, for all nodes."""
    full = matrix.to_scipy().toarray().astype(np.float64)[rows]
    masses = (full / np.maximum(full.sum(axis=1, keepdims=True), 1e-30)).sum(axis=0) * np.abs(scores)
    return masses / masses.sum()


def test_every_layer_is_drawn_by_the_formula_with_its_weights() -> None:
    matrix, sizes = random_matrix(40, 200), [6, 9]
    scores = np.random.default_rng(1).uniform(-1, 1, 40)
    full = matrix.to_scipy().toarray()
    batch = sampler(sizes, matrix, scores).sample(np.array([8, 1]), np.uint64(3))
    for layer, size in zip((1, 0), sizes, strict=True):
        rows, chosen = batch.nodes[layer + 1], batch.candidates[layer]
        q = probabilities(matrix, rows, scores)
        assert set(chosen.nodes) == set(np.flatnonzero(q))
        np.testing.assert_allclose(chosen.probabilities, q[chosen.nodes], rtol=1e-6)
        by_masses = chosen.masses * np.abs(scores[chosen.nodes])
        np.testing.assert_allclose(by_masses / by_masses.sum(), chosen.probabilities, rtol=1e-6)
        assert np.array_equal(chosen.nodes[chosen.drawn], batch.nodes[layer])
        assert chosen.draws.sum() == size
        weights = full[np.ix_(rows, batch.nodes[layer])] * chosen.draws / (size * q[batch.nodes[layer]])
        np.testing.assert_allclose(batch.blocks[layer].to_scipy().toarray(), weights, rtol=1e-5)


def test_draws_are_independent_and_the_estimator_is_unbiased() -> None:
    rows = np.array([3, 0, 5])
    q = probabilities(SMALL, rows, SCORES)
    expected: dict[tuple[int, ...], float] = {}
    for drawn in product(np.flatnonzero(q).tolist(), repeat=2):
        name = tuple(sorted(drawn))
        expected[name] = expected.get(name, 0) + q[drawn[0]] * q[drawn[1]]

    def name_of(batch: AdaptiveBatch) -> tuple[int, ...]:
        return tuple(sorted(np.repeat(batch.nodes[0], batch.candidates[0].draws).tolist()))

    found = outcomes(lambda key: sampler([2]).sample(rows, key), name_of)
    assert follows(found, expected)
    mean = sum(expected[name] * dense(batch.blocks[0], batch.nodes[0], 6) for name, (_, batch) in found.items())
    np.testing.assert_allclose(mean, SMALL.to_scipy().toarray()[rows], atol=1e-6)


def test_targets_without_neighbours_have_an_empty_layer_below() -> None:
    batch = sampler([2, 2]).sample(np.array([5]), np.uint64(0))
    assert [len(nodes) for nodes in batch.nodes] == [0, 0, 1]
    assert [block.to_scipy().shape for block in batch.blocks] == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones(5), r"scores=\(5,\): must have one score per node, 6"),
        (np.array([1, 1, 0.0, 1, 1, 1]), "scores=0.0: must be finite, and not zero"),
        (np.array([1, 1, np.nan, 1, 1, 1]), "scores=nan: must be finite, and not zero"),
    ],
)
def test_bad_scores(scores: np.ndarray, message: str) -> None:
    with pytest.raises(SignError, match=message):
        sampler([2], scores=scores)
