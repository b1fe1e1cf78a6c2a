"""Compiled loops that build CSR arrays: counting sort, transposition, merging, selection.

Where entries are scattered to rows, each thread owns a range of the output rows and reads all of the input, so no
two threads write to one row and the result does not depend on the number of threads. Input is read in order and
output is written one window of rows at a time, so all arrays may be memory-mapped.
"""

from typing import Any

import numpy as np
from numba import prange

from sign.graph.query_kernels import same_weight
from sign.system.jit import compiled, compiled_inline, compiled_parallel

SUM, MEAN, MAX, EQUAL = range(4)
RULES = {"sum": SUM, "mean": MEAN, "max": MAX, "error": EQUAL}  # what several weights of one edge become


@compiled_inline
def combine_weights(total: Any, count: Any, low: Any, high: Any, rule: Any) -> Any:
    """Combine weights with this sum, number, minimum and maximum; NaN where the rule is that they are equal."""
    combined = total
    if rule == MEAN:
        combined = total / count
    elif rule == MAX:
        combined = float(high)
    elif rule == EQUAL:
        combined = float(high) if same_weight(low, high) else np.nan
    return combined


@compiled_parallel
def place_edges(
    source: Any, target: Any, weights: Any, both: Any, bounds: Any, cursors: Any, indices: Any, values: Any
) -> None:
    """Write each edge to the cursor of its row, for rows within ``bounds``; without ``indices``, only count edges.

    With ``both``, an edge is an entry of the rows of both ends, and a self-loop is one entry.
    """
    for part in prange(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        for e in range(len(source)):
            s, t = source[e], target[e]
            if low <= s < high:
                if indices is not None:
                    indices[cursors[s]] = t
                if weights is not None:
                    values[cursors[s]] = weights[e]
                cursors[s] += 1
            if both and s != t and low <= t < high:
                if indices is not None:
                    indices[cursors[t]] = s
                if weights is not None:
                    values[cursors[t]] = weights[e]
                cursors[t] += 1


@compiled_parallel
def sort_rows(indptr: Any, indices: Any, values: Any, bounds: Any, lengths: Any, rule: Any) -> None:
    """Sort the columns of each row and merge duplicates, whose values are combined by a rule.

    ``lengths`` becomes the new length of each row.
    """
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            low, high = indptr[i], indptr[i + 1]
            is_sorted = True
            for e in range(low + 1, high):
                is_sorted = is_sorted and indices[e - 1] < indices[e]
            if is_sorted:
                lengths[i] = high - low
                continue
            if values is None:
                indices[low:high].sort()
            else:
                order = np.argsort(indices[low:high], kind="mergesort")
                indices[low:high] = indices[low:high][order]
                values[low:high] = values[low:high][order]
            end = low
            e = low
            while e < high:
                column = indices[e]
                first = e
                while e < high and indices[e] == column:
                    e += 1
                indices[end] = column
                if values is not None:
                    listed = values[first:e]
                    # adds in double precision; numpy's sum would add in single precision
                    total = 0.0
                    for value in listed:
                        total += value
                    values[end] = combine_weights(total, e - first, listed.min(), listed.max(), rule)
                end += 1
            lengths[i] = end - low


@compiled
def close_gaps(indptr: Any, lengths: Any, array: Any) -> None:
    """Move the first ``lengths`` entries of each row to the left, so that rows are contiguous again."""
    cursor = indptr[0]
    for i in range(len(lengths)):
        for e in range(indptr[i], indptr[i] + lengths[i]):
            array[cursor] = array[e]
            cursor += 1


@compiled_parallel
def place_columns(
    indptr: Any, indices: Any, values: Any, bounds: Any, cursors: Any, out: Any, out_values: Any, first: Any
) -> None:
    """Write the entries of columns within ``bounds`` as rows of the transpose; without ``out``, only count them.

    The rows of the input are sorted; ``first`` is the number of its first one.
    """
    for part in prange(len(bounds) - 1):
        low, high = bounds[part], bounds[part + 1]
        for i in range(len(indptr) - 1):
            start, end = indptr[i], indptr[i + 1]
            for e in range(start + np.searchsorted(indices[start:end], low), end):
                j = indices[e]
                if j >= high:
                    break
                if out is not None:
                    out[cursors[j]] = first + i
                if values is not None:
                    out_values[cursors[j]] = values[e]
                cursors[j] += 1


@compiled_parallel
def count_union(indptr: Any, indices: Any, other: Any, other_indices: Any, bounds: Any, lengths: Any) -> None:
    """Count the columns of each row that are in either matrix."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            e, f = indptr[i], other[i]
            count = 0
            while e < indptr[i + 1] and f < other[i + 1]:
                a, b = indices[e], other_indices[f]
                e += a <= b
                f += b <= a
                count += 1
            lengths[i] = count + (indptr[i + 1] - e) + (other[i + 1] - f)


@compiled_parallel
def fill_mean(
    ours: Any, values: Any, theirs: Any, other_values: Any, bounds: Any, out: Any, out_indices: Any, out_values: Any
) -> None:
    """Write half the sum of two matrices, row by row; ``ours`` and ``theirs`` are their indptr and indices."""
    indptr, indices = ours
    other, other_indices = theirs
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            e, f, cursor = indptr[i], other[i], out[i]
            while e < indptr[i + 1] or f < other[i + 1]:
                from_left = f == other[i + 1] or (e < indptr[i + 1] and indices[e] <= other_indices[f])
                from_right = e == indptr[i + 1] or (f < other[i + 1] and other_indices[f] <= indices[e])
                out_indices[cursor] = indices[e] if from_left else other_indices[f]
                total = np.float32(0)
                if from_left:
                    total += np.float32(1) if values is None else values[e]
                    e += 1
                if from_right:
                    total += np.float32(1) if other_values is None else other_values[f]
                    f += 1
                out_values[cursor] = np.float32(0.5) * total
                cursor += 1


@compiled_parallel
def fill_pairs(
    ours: Any, values: Any, theirs: Any, other_values: Any, rule: Any, bounds: Any, out: Any, out_values: Any
) -> None:
    """Write the union of a matrix and its transpose; where both have an entry, a rule combines different values.

    ``ours``, ``theirs`` and ``out`` are their indptr and indices.
    """
    indptr, indices = ours
    other, other_indices = theirs
    out_indptr, out_indices = out
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            e, f, cursor = indptr[i], other[i], out_indptr[i]
            while e < indptr[i + 1] or f < other[i + 1]:
                from_left = f == other[i + 1] or (e < indptr[i + 1] and indices[e] <= other_indices[f])
                from_right = e == indptr[i + 1] or (f < other[i + 1] and other_indices[f] <= indices[e])
                out_indices[cursor] = indices[e] if from_left else other_indices[f]
                one = values[e] if from_left else other_values[f]
                two = other_values[f] if from_right else values[e]
                low, high = min(one, two), max(one, two)
                if same_weight(low, high):
                    out_values[cursor] = high
                else:
                    out_values[cursor] = combine_weights(float(low) + float(high), 2, low, high, rule)
                e += from_left
                f += from_right
                cursor += 1


@compiled_parallel
def copy_selected(indptr: Any, array: Any, mask: Any, bounds: Any, out: Any, out_array: Any) -> None:
    """Copy the entries of each row where ``mask`` is true."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            cursor = out[i]
            for e in range(indptr[i], indptr[i + 1]):
                if mask[e]:
                    out_array[cursor] = array[e]
                    cursor += 1


@compiled_parallel
def count_induced(indptr: Any, indices: Any, nodes: Any, number: Any, bounds: Any, lengths: Any) -> None:
    """Count the entries between selected nodes; ``number`` is the new number of a node, -1 if it is not selected."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            count = 0
            for e in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
                count += number[indices[e]] >= 0
            lengths[i] = count


@compiled_parallel
def fill_induced(
    indptr: Any, indices: Any, values: Any, nodes: Any, number: Any, bounds: Any, out: Any, columns: Any, weights: Any
) -> None:
    """Write the entries between selected nodes, renumbered, to ``columns`` and ``weights``."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            cursor = out[i]
            for e in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
                j = number[indices[e]]
                if j >= 0:
                    columns[cursor] = j
                    if values is not None:
                        weights[cursor] = values[e]
                    cursor += 1
