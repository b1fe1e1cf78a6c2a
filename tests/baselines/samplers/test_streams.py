"""Draws are hashes: uniform, and independent of order and threads."""

import numpy as np
import scipy.stats

from sign.baselines.samplers.streams import below, categories, draw_categories, stream, uniform


def test_streams_of_different_numbers_differ() -> None:
    keys = [stream(*numbers) for numbers in ((0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 1), (0, 1, 0), (2**32 - 1, 5))]
    assert len(set(keys)) == len(keys)
    assert stream(3, 1, 4) == stream(stream(3, 1), 4)


def test_draws_are_uniform() -> None:
    values = [uniform(stream(7), i) for i in range(2000)]
    assert scipy.stats.kstest(values, "uniform").pvalue > 1e-3
    counts = np.bincount([below(stream(8), i, 7) for i in range(3500)], minlength=7)
    assert len(counts) == 7
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


def test_categories_are_drawn_by_weight_and_never_without_one() -> None:
    weights = np.array([0.0, 1.0, 0.0, 3.0, 2.0, 0.0])
    counts = np.bincount(draw_categories(categories(weights), 6000, stream(1)), minlength=6)
    assert not counts[weights == 0].any()
    chosen = weights > 0
    assert scipy.stats.chisquare(counts[chosen], weights[chosen] * 1000).pvalue > 1e-3


def test_the_table_of_categories_finds_what_a_search_does() -> None:
    for weights in ([1.0], [0.0, 0.0, 5.0], np.random.default_rng(0).random(100) ** 8):
        found = draw_categories(categories(np.array(weights)), 500, stream(2))
        cumulative = np.cumsum(weights) / np.sum(weights)
        values = [uniform(stream(2), i) for i in range(500)]
        np.testing.assert_array_equal(found, np.searchsorted(cumulative, values, side="right"))
        np.testing.assert_allclose(categories(np.array(weights)).probabilities, weights / np.sum(weights), atol=1e-15)
