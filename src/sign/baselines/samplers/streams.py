"""Counter-based randomness: a draw is a hash of integers, so it does not depend on threads or on earlier draws."""

from typing import Any

import numpy as np

from sign.graph.query_kernels import splitmix64
from sign.system.jit import compiled, compiled_inline


def stream(seed: int | np.uint64, *numbers: int) -> np.uint64:
    """Return the key of the draws of a part of a stream, such as an epoch and a batch of it."""
    key = np.uint64(seed)
    for number in numbers:
        key = np.uint64(substream(key, np.uint64(number)))
    return key


@compiled_inline
def substream(key: Any, number: Any) -> Any:
    """Return the key of a part of a stream, such as a node."""
    return splitmix64(splitmix64(key) + np.uint64(number))


@compiled_inline
def uniform(key: Any, draw: Any) -> Any:
    """Return the draw with this number: at least 0, below 1."""
    return np.float64(splitmix64(key + np.uint64(draw)) >> np.uint64(11)) * 2.0**-53


@compiled_inline
def below(key: Any, draw: Any, size: Any) -> Any:
    """Return an integer from 0 to ``size - 1``; its bias is below ``size`` / 2⁵³."""
    return np.int64(uniform(key, draw) * size)


@compiled
def draw_categories(cumulative: Any, draws: Any, key: Any) -> Any:
    """Draw categories with replacement, given the cumulative sums of their weights."""
    drawn = np.empty(draws, np.int64)
    for i in range(draws):
        drawn[i] = np.searchsorted(cumulative, uniform(key, i) * cumulative[-1], side="right")
    return drawn
