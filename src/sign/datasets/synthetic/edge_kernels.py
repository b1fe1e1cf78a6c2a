"""Compiled loops that draw edges: each from a hash of its number, so that any range of edges can be drawn."""

from typing import Any

import numpy as np
from numba import prange

from sign.datasets.sampling import INSIDE
from sign.graph.query_kernels import splitmix64
from sign.system.jit import compiled_inline, compiled_parallel

OFFSET = 3.0  # limits the degree of the most popular nodes
UNIT = 2.0**-53


@compiled_inline
def uniform(bits: Any) -> Any:
    """Convert 64 random bits to a number in [0, 1)."""
    return np.float64(bits >> np.uint64(11)) * UNIT


@compiled_inline
def popular_rank(bits: Any, ranks: Any) -> Any:
    """Draw a rank r with density (r + OFFSET) ** -1/2, by inversion: degrees follow a power law with exponent 3."""
    low, high = np.sqrt(OFFSET), np.sqrt(ranks + OFFSET)
    drawn = low + uniform(bits) * (high - low)
    return min(np.int64(drawn * drawn - OFFSET), ranks - 1)


@compiled_parallel
def draw_edges(seed: Any, first: Any, nodes: Any, communities: Any, factor: Any, source: Any, target: Any) -> None:
    """Draw the edges with numbers from ``first`` on.

    A node is a rank in a community; multiplication by ``factor`` permutes the nodes, otherwise the graph would have
    a locality that real graphs lack.
    """
    ranks = nodes // communities
    start = splitmix64(np.uint64(seed))
    for e in prange(len(source)):
        bits = splitmix64(start + np.uint64(first + e))
        more = splitmix64(bits)
        home = np.int64(uniform(bits) * communities)
        other = home
        if uniform(more) >= INSIDE:
            other = np.int64(uniform(splitmix64(more + np.uint64(1))) * communities)
        s = popular_rank(splitmix64(bits + np.uint64(2)), ranks) * communities + home
        t = popular_rank(splitmix64(more + np.uint64(3)), ranks) * communities + other
        if s == t:
            t = (s + communities) % nodes
        source[e] = s * factor % nodes
        target[e] = t * factor % nodes
