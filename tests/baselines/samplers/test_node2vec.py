"""Walks have the transition probabilities of Node2Vec, and windows become pairs."""

from collections import Counter

import numpy as np
import pytest
import scipy.stats
from common.sampling import WHEEL, row_normalized

from sign.baselines.samplers.node2vec import Node2VecSampler
from sign.errors import SignError
from sign.graph.csr import CSR

MATRIX = row_normalized(WHEEL, 7)


def sampler(matrix: CSR = MATRIX, **options: float) -> Node2VecSampler:
    settings = {"batch_size": 3, "walk_length": 6, "context_size": 3, **options}
    return Node2VecSampler(adjacency=matrix, targets=np.arange(matrix.nodes), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25), (2, 1)])
def test_transitions_follow_the_formula(p: float, q: float) -> None:
    linked = MATRIX.to_scipy().toarray() > 0
    walks = sampler(walk_length=40, walks_per_node=200, p=p, q=q).sample(np.arange(7), np.uint64(1)).walks
    counts = Counter((t, v, x) for walk in walks.tolist() for t, v, x in zip(walk, walk[1:], walk[2:], strict=False))
    total = 0
    for t, v in zip(*np.nonzero(linked), strict=True):
        nodes = np.flatnonzero(linked[v])
        weights = np.array([1 / p if x == t else 1 if linked[t, x] else 1 / q for x in nodes])
        observed = np.array([counts[t, v, x] for x in nodes])
        total += observed.sum()
        if len(nodes) > 1:
            assert scipy.stats.chisquare(observed, weights / weights.sum() * observed.sum()).pvalue > 1e-3, (t, v)
    assert total == sum(counts.values()) == len(walks) * 38  # no step leaves the graph


def test_the_first_step_is_uniform() -> None:
    walks = sampler(walks_per_node=1000, p=0.25, q=4).sample(np.array([0]), np.uint64(2)).walks
    assert (walks[:, 0] == 0).all()
    assert scipy.stats.chisquare(np.bincount(walks[:, 1], minlength=6)[1:6]).pvalue > 1e-3


def test_each_window_pairs_its_first_node_with_the_others() -> None:
    batch = sampler(walks_per_node=2, walk_length=5, context_size=3).sample(np.array([4, 6]), np.uint64(0))
    assert batch.walks[:, 0].tolist() == [4, 4, 6, 6]
    expected = [(w[i], w[i + j]) for w in batch.walks.tolist() for i in range(3) for j in (1, 2)]
    assert list(zip(batch.sources.tolist(), batch.targets.tolist(), strict=True)) == expected


def test_negatives_are_uniform() -> None:
    batch = sampler(negatives=5, walks_per_node=40).sample(np.arange(7), np.uint64(3))
    assert batch.negatives.shape == (len(batch.sources), 5)
    assert scipy.stats.chisquare(np.bincount(batch.negatives.ravel(), minlength=7)).pvalue > 1e-3


def test_a_walk_ends_where_there_is_no_neighbour() -> None:
    path = row_normalized([(0, 1), (1, 2)], 4, directed=True)
    batch = sampler(path, walk_length=4, context_size=3).sample(np.array([0, 3]), np.uint64(0))
    assert batch.walks.tolist() == [[0, 1, 2, -1], [3, -1, -1, -1]]
    assert list(zip(batch.sources.tolist(), batch.targets.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_a_walk_depends_on_its_start_and_not_on_the_other_nodes_of_the_batch() -> None:
    both, single = (sampler().sample(np.array(nodes), np.uint64(1)).walks for nodes in ([2, 5], [5]))
    assert both[1].tolist() == single[0].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"walk_length": 0}, "walk_length=0: must be an integer >= 1"),
        ({"context_size": 7}, "context_size=7: must be from 2 to walk_length, 6"),
        ({"context_size": 1}, "context_size=1: must be from 2 to walk_length, 6"),
        ({"p": 0.0}, "p=0.0: must be a number >= 0.001"),
        ({"negatives": 0}, "negatives=0: must be an integer >= 1"),
    ],
)
def test_bad_input(options: dict[str, float], message: str) -> None:
    with pytest.raises(SignError, match=message):
        sampler(**options)
