"""Temporal motifs counted by their ends: rows in parallel, in integers, each row by itself.

Rows are counted twice: once for the number of their columns, and once to write them to arrays of that size, which may
be mapped from files. All conditions compare differences of times with the window, so that rounding cannot make two
ends of a motif disagree.
"""

from typing import Any

import numba
import numpy as np
from numba import prange

from sign.graph.csr import CSR, Array, empty_entries, index_type
from sign.graph.edge_data import TimedEdges
from sign.graph.edge_kernels import group_of, sort_listings
from sign.graph.partition import blocks_by_window, row_pointers
from sign.system import arrays
from sign.system.jit import compiled, compiled_parallel

TWO_PATH, TRIANGLE = range(2)


def count_two_paths(timed: TimedEdges, window: float) -> CSR:
    """Return, for each two nodes, the time-respecting paths of two edges from one to the other."""
    return _count(timed, window, TWO_PATH, timed.targets, timed.times)


def count_triangles(timed: TimedEdges, window: float) -> CSR:
    """Return, for each two nodes with edges from one to the other, the time-respecting triangles with one of these."""
    targets, times = arrays.copy_rows(timed.targets), arrays.copy_rows(timed.times)
    for bounds in blocks_by_window(timed.indptr, targets, times):
        sort_listings(timed.indptr, targets, times, bounds)  # by target, and still by time where targets are equal
    return _count(timed, window, TRIANGLE, targets, times)


def _count(timed: TimedEdges, window: float, motif: int, targets: Array, times: Array) -> CSR:
    """Return the counts; ``targets`` and ``times`` are sorted by target."""
    edges = (timed.indptr, timed.targets, timed.times, targets, times)
    lengths = np.zeros(timed.nodes, np.int64)
    scratch = np.zeros((numba.get_num_threads(), timed.nodes), np.int64)
    nothing = (np.zeros(1, np.int64), np.empty(0, index_type(timed.nodes)), np.empty(0, np.float32))
    for bounds in blocks_by_window(timed.indptr, timed.targets, timed.times):
        count_rows(edges, window, motif, bounds, scratch, lengths, *nothing)
    indptr = row_pointers(lengths)
    indices, values = empty_entries(indptr, index_type(timed.nodes), weighted=True)
    for bounds in blocks_by_window(indptr, indices, values):
        count_rows(edges, window, motif, bounds, scratch, lengths, indptr, indices, values)
    return CSR(indptr, indices, values)


@compiled_parallel
def count_rows(
    edges: Any, window: Any, motif: Any, bounds: Any, scratch: Any, lengths: Any, indptr: Any, indices: Any, values: Any
) -> None:
    """Write the counts of each row within ``bounds``; without rows in ``indptr``, only count its columns."""
    for part in prange(len(bounds) - 1):
        sums = scratch[numba.get_thread_id()]
        for i in range(bounds[part], bounds[part + 1]):
            reached = two_paths(edges, window, i, sums) if motif == TWO_PATH else triangles(edges, window, i, sums)
            lengths[i] = len(reached)
            for k in range(len(reached)):
                if len(indptr) > 1:
                    indices[indptr[i] + k] = reached[k]
                    values[indptr[i] + k] = sums[reached[k]]
                sums[reached[k]] = 0


@compiled
def two_paths(edges: Any, window: Any, i: Any, sums: Any) -> Any:
    """Add one for each path from ``i`` to its end; return the ends in ascending order."""
    indptr, targets, times, _, _ = edges
    ends, found = np.empty(64, np.int64), 0
    for e in range(indptr[i], indptr[i + 1]):
        k, start = targets[e], times[e]
        if k == i:
            continue
        first = first_from(times, indptr[k], indptr[k + 1], start, True)
        for f in range(first, first_beyond(times, first, indptr[k + 1], start, window)):
            j = targets[f]
            if j != i and j != k:
                if sums[j] == 0:
                    if found == len(ends):
                        ends = np.concatenate((ends, np.empty_like(ends)))
                    ends[found] = j
                    found += 1
                sums[j] += 1
    ends = ends[:found]
    ends.sort()
    return ends


@compiled
def triangles(edges: Any, window: Any, i: Any, sums: Any) -> Any:
    """Add the triangles in which an edge from ``i`` to ``j`` is the first, second or third; return all such j."""
    indptr, targets, times, _, _ = edges
    ends, found = np.empty(indptr[i + 1] - indptr[i], np.int64), 0
    for e in range(indptr[i], indptr[i + 1]):
        j = targets[e]
        if j == i:
            continue
        count = 0
        near = first_within(times, indptr[j], indptr[j + 1], times[e], window)
        for f in range(near, first_beyond(times, near, indptr[j + 1], times[e], window)):
            if targets[f] != i and targets[f] != j:
                count += closing_edges(edges, window, i, targets[f], times[e], times[f])
        if count > 0:
            if sums[j] == 0:
                ends[found] = j
                found += 1
            sums[j] += count
    ends = ends[:found]
    ends.sort()
    return ends


@compiled
def closing_edges(edges: Any, window: Any, i: Any, k: Any, own: Any, following: Any) -> Any:
    """Count the edges from ``k`` to ``i`` that close a triangle with i → j → k at two times at most a window apart."""
    indptr, _, _, targets, times = edges
    if own == following:
        return 0
    first, last = group_of(indptr, targets, k, i)
    if following < own:  # i → j is the last edge: the closing one is between them
        low = first_from(times, first, last, following, True)
        return first_from(times, low, last, own, False) - low
    after = first_from(times, first, last, following, True)  # i → j is the first edge
    count = first_beyond(times, after, last, own, window) - after
    low = first_within(times, first, last, following, window)  # or the second: the closing edge is the first
    return count + first_from(times, low, last, own, False) - low


@compiled
def first_from(times: Any, low: Any, high: Any, time: Any, strictly: Any) -> Any:
    """The first of sorted times that is not before ``time``, or ``strictly`` after it."""
    while low < high:
        middle = (low + high) // 2
        if times[middle] < time or (strictly and times[middle] == time):
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def first_beyond(times: Any, low: Any, high: Any, time: Any, window: Any) -> Any:
    """The first of sorted times that is more than the window after ``time``."""
    while low < high:
        middle = (low + high) // 2
        if times[middle] - time <= window:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def first_within(times: Any, low: Any, high: Any, time: Any, window: Any) -> Any:
    """The first of sorted times that is at most the window before ``time``."""
    while low < high:
        middle = (low + high) // 2
        if time - times[middle] > window:
            low = middle + 1
        else:
            high = middle
    return low
