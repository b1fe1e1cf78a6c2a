"""Counter-based randomness: a draw is a hash of integers, so it does not depend on threads or on earlier draws."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class Categories(NamedTuple):
    """A distribution: the cumulative sums of n probabilities, and for i = 0 to n - 1 the first one above i / n."""

    cumulative: NDArray[np.float64]
    first_above: NDArray[np.int64]

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each category."""
        return np.diff(self.cumulative, prepend=0.0)


def categories(weights: NDArray[np.float64]) -> Categories:
    """Return the distribution in proportion to weights that are not negative, and not all zero."""
    cumulative = np.cumsum(weights)
    cumulative /= cumulative[-1]
    return Categories(cumulative, first_above(cumulative))


@compiled
def first_above(cumulative: Any) -> Any:
    """Return the first number above each of 0, 1 / n, 2 / n and so on."""
    places = np.empty(len(cumulative), np.int64)
    place = 0
    for i in range(len(cumulative)):
        while cumulative[place] <= i / len(cumulative):
            place += 1
        places[i] = place
    return places


@compiled
def draw_categories(distribution: Any, draws: Any, key: Any) -> Any:
    """Draw categories with replacement."""
    cumulative, starts = distribution
    drawn = np.empty(draws, np.int64)
    for i in range(draws):
        value = uniform(key, i)
        place = starts[np.int64(value * len(cumulative))]
        while cumulative[place] <= value:
            place += 1
        drawn[i] = place
    return drawn
