"""Compiled loops over data of edges: listings grouped by entry, their features combined, times sorted and selected."""

from typing import Any

import numpy as np
from numba import prange

from sign.graph.build_kernels import EQUAL, MAX, MEAN
from sign.system.jit import compiled, compiled_parallel


@compiled_parallel
def sort_listings(indptr: Any, columns: Any, listings: Any, bounds: Any) -> None:
    """Sort each row by column; listings of one edge keep their order."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            row = slice(indptr[i], indptr[i + 1])
            order = np.argsort(columns[row], kind="mergesort")
            columns[row], listings[row] = columns[row][order], listings[row][order]


@compiled
def same(one: Any, two: Any) -> Any:
    """Whether two numbers are equal up to rounding."""
    return abs(one - two) <= 1e-5 * max(abs(one), abs(two))


@compiled
def combine_listings(features: Any, listings: Any, first: Any, last: Any, rule: Any, out: Any) -> None:
    """Write the features of the listings of one edge in one direction, combined by a rule; NaN where it forbids it."""
    for c in range(features.shape[1]):
        low = high = features[listings[first], c]
        total = 0.0
        for k in range(first, last):
            value = features[listings[k], c]
            total += value
            low, high = min(low, value), max(high, value)
        if rule == MAX:
            total = float(high)
        elif rule == MEAN:
            total /= last - first
        elif rule == EQUAL:
            total = float(high) if same(low, high) else np.nan
        out[c] = total


@compiled
def group_of(indptr: Any, columns: Any, i: Any, j: Any) -> Any:
    """The first listing of the edge from i to j, and the one after the last."""
    row = columns[indptr[i] : indptr[i + 1]]
    return indptr[i] + np.searchsorted(row, j), indptr[i] + np.searchsorted(row, j, side="right")


@compiled
def merge_directions(one: Any, two: Any, rule: Any, out: Any) -> None:
    """Write what the features of both directions become: either if they are equal, else combined by a rule."""
    equal = True
    for c in range(len(one)):
        equal = equal and same(one[c], two[c])
    for c in range(len(one)):
        if equal or (rule == MAX and one[c] > two[c]):
            out[c] = one[c]
        elif rule == MAX:
            out[c] = two[c]
        elif rule == EQUAL:
            out[c] = np.nan
        else:
            out[c] = (float(one[c]) + float(two[c])) / (2 if rule == MEAN else 1)


@compiled_parallel
def fill_features(
    ours: Any, listed: Any, listings: Any, features: Any, both: Any, rule: Any, bounds: Any, out: Any
) -> None:
    """Write the features of each entry of the rows within ``bounds``.

    ``ours`` are indptr and indices of the adjacency, ``listed`` those of the listings, by their direction; ``both``:
    an edge has one row of features, whichever direction it is listed in.
    """
    indptr, indices = ours
    pointers, columns = listed
    for part in prange(len(bounds) - 1):
        one, two = np.empty(features.shape[1], np.float32), np.empty(features.shape[1], np.float32)
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                a, b = (min(i, j), max(i, j)) if both else (i, j)  # the same arithmetic for (i, j) and (j, i)
                first, last = group_of(pointers, columns, a, b)
                found = last > first
                if found:
                    combine_listings(features, listings, first, last, rule, one)
                if both and a != b:
                    first, last = group_of(pointers, columns, b, a)
                    if last > first:
                        combine_listings(features, listings, first, last, rule, two)
                        if found:
                            merge_directions(one, two, rule, one)
                        else:
                            one[:] = two
                out[e] = one


@compiled
def count_asymmetric(indptr: Any, indices: Any, features: Any, i: Any) -> Any:
    """Count the features of the entries (i, j) with j > i that differ from those of (j, i)."""
    count = 0
    for e in range(indptr[i], indptr[i + 1]):
        j = indices[e]
        if j > i:
            mirror = indptr[j] + np.searchsorted(indices[indptr[j] : indptr[j + 1]], i)
            for c in range(features.shape[1]):
                if not same(features[e, c], features[mirror, c]):
                    count += 1
    return count


@compiled_parallel
def has_symmetric_features(indptr: Any, indices: Any, features: Any, bounds: Any) -> Any:
    """Return whether the entries (i, j) and (j, i) of a symmetric pattern have equal features, up to rounding."""
    different = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            different += count_asymmetric(indptr, indices, features, i)
    return different == 0


@compiled_parallel
def mark_inside(indptr: Any, indices: Any, chosen: Any, bounds: Any, mask: Any) -> None:
    """Set ``mask`` to whether both ends of each entry are chosen."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            for e in range(indptr[i], indptr[i + 1]):
                mask[e] = chosen[i] and chosen[indices[e]]


@compiled_parallel
def sort_times(indptr: Any, targets: Any, times: Any, bounds: Any, lengths: Any) -> None:
    """Sort each row by time, then by target, and merge equal pairs; ``lengths`` becomes the new length of each row."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            row = slice(indptr[i], indptr[i + 1])
            order = np.argsort(targets[row], kind="mergesort")
            order = order[np.argsort(times[row][order], kind="mergesort")]
            targets[row], times[row] = targets[row][order], times[row][order]
            end = indptr[i]
            for e in range(indptr[i], indptr[i + 1]):
                if e == indptr[i] or times[e] != times[e - 1] or targets[e] != targets[e - 1]:
                    order[e - indptr[i]] = 1
                else:
                    order[e - indptr[i]] = 0
            for e in range(indptr[i], indptr[i + 1]):
                if order[e - indptr[i]]:
                    targets[end], times[end] = targets[e], times[e]
                    end += 1
            lengths[i] = end - indptr[i]


@compiled
def count_wrong(indptr: Any, targets: Any, times: Any, i: Any) -> Any:
    """Count the timed edges of a row whose target is no node, or that are not after the one before."""
    count = 0
    for e in range(indptr[i], indptr[i + 1]):
        fits = 0 <= targets[e] < len(indptr) - 1 and np.isfinite(times[e])
        if fits and e > indptr[i]:
            fits = times[e] > times[e - 1] or (times[e] == times[e - 1] and targets[e] > targets[e - 1])
        if not fits:
            count += 1
    return count


@compiled_parallel
def count_out_of_order(indptr: Any, targets: Any, times: Any, bounds: Any) -> Any:
    """Count the timed edges of all rows within ``bounds`` that are not valid."""
    count = 0
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            count += count_wrong(indptr, targets, times, i)
    return count
