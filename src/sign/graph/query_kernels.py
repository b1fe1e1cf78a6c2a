"""Compiled loops that look at sparse rows, a block of them a thread: sums, marks, and whether all is in order."""

from typing import Any

import numpy as np
from numba import prange

from sign.system.jit import compiled, compiled_inline, compiled_parallel


@compiled_inline
def scatter(number: Any) -> Any:
    """A number as 64 random-looking bits that depend on it alone (the finaliser of SplitMix64)."""
    mixed = number + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@compiled_parallel
def misplaced(indptr: Any, indices: Any, bounds: Any) -> Any:
    """How many entries name no node, or do not follow the one before."""
    nodes = len(indptr) - 1
    found = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                outside = indices[e] < 0 or indices[e] >= nodes
                found += outside or (e > indptr[i] and indices[e] <= indices[e - 1])
    return found


@compiled_parallel
def asymmetry(indptr: Any, indices: Any, bounds: Any) -> Any:
    """Zero for a symmetric pattern, and by a chance of 2⁻⁶⁴ for another.

    The sum of a random number for each entry above the diagonal, less the same for each one below.
    """
    total = np.uint64(0)
    for part in prange(len(bounds) - 1):
        own = np.uint64(0)
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if i < j:
                    own += scatter(scatter(np.uint64(i)) + np.uint64(j))
                elif j < i:
                    own -= scatter(scatter(np.uint64(j)) + np.uint64(i))
        total += own
    return total


@compiled_parallel
def same_weights(indptr: Any, indices: Any, values: Any, bounds: Any) -> Any:
    """Whether the entries (i, j) and (j, i) of a symmetric pattern are equal up to rounding."""
    different = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if j > i:
                    other = indptr[j] + np.searchsorted(indices[indptr[j] : indptr[j + 1]], i)
                    if abs(values[e] - values[other]) > 1e-5 * abs(values[other]):
                        different += 1
    return different == 0


@compiled_parallel
def sum_rows(indptr: Any, values: Any, bounds: Any, sums: Any) -> None:
    """The sum of each row, in double precision; of truth values, how many are true."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += values[e]
            sums[i] = total


@compiled
def mark_columns(indptr: Any, indices: Any, rows: Any, marked: Any) -> None:
    """Mark the columns of the given rows."""
    for i in rows:
        for e in range(indptr[i], indptr[i + 1]):
            marked[indices[e]] = True


@compiled_parallel
def mark_loops(indptr: Any, indices: Any, bounds: Any, chosen: Any) -> None:
    """Whether each entry is off the diagonal."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                chosen[e] = indices[e] != i


@compiled_parallel
def mark_drawn(indptr: Any, indices: Any, bounds: Any, seed: Any, limit: Any, chosen: Any) -> None:
    """Whether each entry's random number, which depends on its two ends and the seed, reaches the limit."""
    start = scatter(seed)
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                low, high = np.uint64(min(i, indices[e])), np.uint64(max(i, indices[e]))
                chosen[e] = scatter(scatter(low ^ start) + high) >= limit
