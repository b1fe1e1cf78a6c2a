"""Compiled loops that make sparse rows: counting sort, transposition, merging, choosing.

Where rows are scattered, each thread owns a range of the result's rows and reads all of the input, so no two
threads write to one row and the result does not depend on their number. Input is read in order and the
result is written a window of rows at a time, so all of it may be memory-mapped.
"""

from typing import Any

import numpy as np
from numba import prange

from sign.system.jit import compiled, compiled_parallel


@compiled_parallel
def count_edges(source: Any, target: Any, both: Any, bounds: Any, counts: Any) -> None:
    """Add the number of edges of every row; ``both`` counts an edge at its two ends, a loop once."""
    for part in prange(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        for e in range(len(source)):
            s, t = source[e], target[e]
            if low <= s < high:
                counts[s] += 1
            if both and s != t and low <= t < high:
                counts[t] += 1


@compiled_parallel
def place_edges(
    source: Any, target: Any, weights: Any, both: Any, bounds: Any, cursors: Any, indices: Any, values: Any
) -> None:
    """Write each edge to the place that its row has come to; rows outside ``bounds`` wait."""
    for part in prange(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        for e in range(len(source)):
            s, t = source[e], target[e]
            if low <= s < high:
                indices[cursors[s]] = t
                if weights is not None:
                    values[cursors[s]] = weights[e]
                cursors[s] += 1
            if both and s != t and low <= t < high:
                indices[cursors[t]] = s
                if weights is not None:
                    values[cursors[t]] = weights[e]
                cursors[t] += 1


@compiled_parallel
def sort_rows(indptr: Any, indices: Any, values: Any, bounds: Any, lengths: Any) -> None:
    """Sort the columns of each row and join equal ones, adding their values; ``lengths`` is what is left."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            low, high = indptr[i], indptr[i + 1]
            rising = True
            for e in range(low + 1, high):
                rising = rising and indices[e - 1] < indices[e]
            if rising:
                lengths[i] = high - low
                continue
            if values is None:
                indices[low:high].sort()
            else:
                order = np.argsort(indices[low:high], kind="mergesort")
                indices[low:high] = indices[low:high][order]
                values[low:high] = values[low:high][order]
            kept = low
            e = low
            while e < high:
                column = indices[e]
                total = 0.0
                while e < high and indices[e] == column:
                    if values is not None:
                        total += values[e]
                    e += 1
                indices[kept] = column
                if values is not None:
                    values[kept] = total
                kept += 1
            lengths[i] = kept - low


@compiled
def close_gaps(indptr: Any, lengths: Any, array: Any) -> None:
    """Move the first ``lengths`` entries of each row to the left, over what the rows before gave up."""
    filled = indptr[0]
    for i in range(len(lengths)):
        for e in range(indptr[i], indptr[i] + lengths[i]):
            array[filled] = array[e]
            filled += 1


@compiled_parallel
def count_columns(indptr: Any, indices: Any, bounds: Any, counts: Any) -> None:
    """How often each column of sorted rows occurs."""
    for part in prange(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        for i in range(len(indptr) - 1):
            start, end = indptr[i], indptr[i + 1]
            for e in range(start + np.searchsorted(indices[start:end], low), end):
                if indices[e] >= high:
                    break
                counts[indices[e]] += 1


@compiled_parallel
def place_columns(
    indptr: Any,
    indices: Any,
    values: Any,
    bounds: Any,
    cursors: Any,
    out: Any,
    out_values: Any,
    first: Any,
) -> None:
    """Write the entries of columns within ``bounds`` as rows; the first row is number ``first``."""
    for part in prange(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        for i in range(len(indptr) - 1):
            start, end = indptr[i], indptr[i + 1]
            for e in range(start + np.searchsorted(indices[start:end], low), end):
                j = indices[e]
                if j >= high:
                    break
                out[cursors[j]] = first + i
                if values is not None:
                    out_values[cursors[j]] = values[e]
                cursors[j] += 1


@compiled_parallel
def count_union(indptr: Any, indices: Any, other: Any, other_indices: Any, bounds: Any, lengths: Any) -> None:
    """Columns of each row that are in one matrix or the other."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            e, f = indptr[i], other[i]
            found = 0
            while e < indptr[i + 1] and f < other[i + 1]:
                a, b = indices[e], other_indices[f]
                e += a <= b
                f += b <= a
                found += 1
            lengths[i] = found + (indptr[i + 1] - e) + (other[i + 1] - f)


@compiled_parallel
def fill_mean(
    indptr: Any,
    indices: Any,
    values: Any,
    other: Any,
    other_indices: Any,
    other_values: Any,
    bounds: Any,
    out: Any,
    out_indices: Any,
    out_values: Any,
) -> None:
    """Half the sum of two matrices, row by row."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            e, f, filled = indptr[i], other[i], out[i]
            while e < indptr[i + 1] or f < other[i + 1]:
                ours = f == other[i + 1] or (e < indptr[i + 1] and indices[e] <= other_indices[f])
                theirs = e == indptr[i + 1] or (f < other[i + 1] and other_indices[f] <= indices[e])
                out_indices[filled] = indices[e] if ours else other_indices[f]
                total = np.float32(0)
                if ours:
                    total += np.float32(1) if values is None else values[e]
                    e += 1
                if theirs:
                    total += np.float32(1) if other_values is None else other_values[f]
                    f += 1
                out_values[filled] = np.float32(0.5) * total
                filled += 1


@compiled_parallel
def copy_chosen(indptr: Any, array: Any, chosen: Any, bounds: Any, out: Any, out_array: Any) -> None:
    """The chosen entries of each row."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            filled = out[i]
            for e in range(indptr[i], indptr[i + 1]):
                if chosen[e]:
                    out_array[filled] = array[e]
                    filled += 1


@compiled_parallel
def count_induced(indptr: Any, indices: Any, nodes: Any, place: Any, bounds: Any, lengths: Any) -> None:
    """Entries between chosen nodes; ``place`` is -1 for all others."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            found = 0
            for e in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
                found += place[indices[e]] >= 0
            lengths[i] = found


@compiled_parallel
def fill_induced(
    indptr: Any,
    indices: Any,
    values: Any,
    nodes: Any,
    place: Any,
    bounds: Any,
    out: Any,
    out_indices: Any,
    out_values: Any,
) -> None:
    """The entries between chosen nodes, renumbered."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            filled = out[i]
            for e in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
                j = place[indices[e]]
                if j >= 0:
                    out_indices[filled] = j
                    if values is not None:
                        out_values[filled] = values[e]
                    filled += 1
