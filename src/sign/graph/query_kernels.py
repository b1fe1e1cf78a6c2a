"""Compiled loops that read CSR arrays, in blocks of rows: sums, masks and checks."""

from typing import Any

import numpy as np
from numba import prange

from sign.system.jit import compiled, compiled_inline, compiled_parallel


@compiled_inline
def splitmix64(number: Any) -> Any:
    """Hash an integer to 64 bits (the finaliser of SplitMix64)."""
    mixed = number + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@compiled_inline
def same_weight(low: Any, high: Any) -> Any:
    """Whether two weights, ``low`` <= ``high``, are equal up to rounding."""
    return high - low <= 1e-5 * high


@compiled_parallel
def count_misplaced(indptr: Any, indices: Any, bounds: Any) -> Any:
    """Count the entries whose column is no node, or not greater than the one before."""
    nodes = len(indptr) - 1
    count = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                outside = indices[e] < 0 or indices[e] >= nodes
                count += outside or (e > indptr[i] and indices[e] <= indices[e - 1])
    return count


@compiled_parallel
def asymmetry(indptr: Any, indices: Any, bounds: Any) -> Any:
    """Return zero for a symmetric pattern, and otherwise zero with probability 2⁻⁶⁴.

    It is the sum of a hash of each entry above the diagonal, minus the hash of the mirror image of each entry below.
    """
    total = np.uint64(0)
    for part in prange(len(bounds) - 1):
        partial = np.uint64(0)
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if i < j:
                    partial += splitmix64(splitmix64(np.uint64(i)) + np.uint64(j))
                elif j < i:
                    partial -= splitmix64(splitmix64(np.uint64(j)) + np.uint64(i))
        total += partial
    return total


@compiled_parallel
def has_symmetric_weights(indptr: Any, indices: Any, values: Any, bounds: Any) -> Any:
    """Return whether the entries (i, j) and (j, i) of a symmetric pattern are equal up to rounding."""
    different = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if j > i:
                    mirror = indptr[j] + np.searchsorted(indices[indptr[j] : indptr[j + 1]], i)
                    different += not same_weight(min(values[e], values[mirror]), max(values[e], values[mirror]))
    return different == 0


@compiled_parallel
def sum_rows(indptr: Any, values: Any, bounds: Any, sums: Any) -> None:
    """Sum each row in double precision; of a mask, that is the number of true entries."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += values[e]
            sums[i] = total


@compiled
def mark_columns(indptr: Any, indices: Any, rows: Any, mask: Any) -> None:
    """Set ``mask`` for the columns of some rows."""
    for i in rows:
        for e in range(indptr[i], indptr[i + 1]):
            mask[indices[e]] = True


@compiled_parallel
def count_diagonal(indptr: Any, indices: Any, bounds: Any) -> Any:
    """Count the entries on the diagonal; columns are sorted."""
    count = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            place = indptr[i] + np.searchsorted(indices[indptr[i] : indptr[i + 1]], i)
            count += place < indptr[i + 1] and indices[place] == i
    return count


@compiled_parallel
def mark_off_diagonal(indptr: Any, indices: Any, bounds: Any, mask: Any) -> None:
    """Set ``mask`` to whether each entry is off the diagonal."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                mask[e] = indices[e] != i


@compiled_parallel
def mark_sampled(indptr: Any, indices: Any, bounds: Any, seed: Any, threshold: Any, mask: Any) -> None:
    """Set ``mask`` to whether the hash of the seed and both ends of each entry reaches ``threshold``."""
    start = splitmix64(seed)
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                low, high = np.uint64(min(i, indices[e])), np.uint64(max(i, indices[e]))
                mask[e] = splitmix64(splitmix64(low ^ start) + high) >= threshold
