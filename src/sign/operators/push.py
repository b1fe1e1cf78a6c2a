"""Approximate personalised PageRank by local pushes, in parallel, as a sparse matrix."""

from typing import Any

import numba
import numpy as np
from numba import njit, prange

from sign.sparse import CSR, index_type

BATCH = 1 << 16  # sources that are pushed at a time
CHUNKS_PER_THREAD = 64  # walks differ in length: small chunks keep all threads busy


def push_rows(csr: CSR, alpha: float, epsilon: float, threshold: float, top_k: int) -> CSR:
    """The row-normalised approximation of S for every node of a graph that has its self-loops."""
    degrees = csr.row_sums
    threads = numba.get_num_threads()
    work = Workspace(threads, csr.nodes)
    counts, columns, values = [], [], []
    for start in range(0, csr.nodes, BATCH):
        stop = min(start + BATCH, csr.nodes)
        bounds = np.linspace(start, stop, min(threads * CHUNKS_PER_THREAD, stop - start) + 1).astype(np.int64)
        lengths, found, weights = push_batch(
            csr.indptr,
            csr.indices,
            csr.weights,
            degrees,
            alpha,
            epsilon,
            threshold,
            top_k,
            bounds,
            *work.arrays,
        )
        counts.append(lengths)
        columns += found
        values += weights
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    indices = np.concatenate(columns).astype(index_type(csr.nodes))
    return CSR(indptr, indices, np.concatenate(values))


class Workspace:
    """Dense scratch arrays of each thread, which it leaves clean after every source."""

    def __init__(self, threads: int, nodes: int) -> None:
        estimate, residual = np.zeros((threads, nodes)), np.zeros((threads, nodes))
        waiting, seen = (np.zeros((threads, nodes), np.bool_) for _ in range(2))
        stack, touched = (np.empty((threads, nodes), np.int32) for _ in range(2))
        self.arrays = (estimate, residual, waiting, seen, stack, touched)


@njit(parallel=True, cache=True, nogil=True)  # type: ignore[untyped-decorator]
def push_batch(
    indptr: Any,
    indices: Any,
    weights: Any,
    degrees: Any,
    alpha: Any,
    epsilon: Any,
    threshold: Any,
    top_k: Any,
    bounds: Any,
    estimates: Any,
    residuals: Any,
    waitings: Any,
    seens: Any,
    stacks: Any,
    toucheds: Any,
) -> Any:
    """Rows ``bounds[0]`` to ``bounds[-1]``: the length of each, and columns and weights chunk by chunk."""
    chunks = len(bounds) - 1
    lengths = np.zeros(bounds[-1] - bounds[0], np.int64)
    all_columns = [np.empty(0, np.int32) for _ in range(chunks)]
    all_values = [np.empty(0, np.float32) for _ in range(chunks)]
    for chunk in prange(chunks):
        thread = numba.get_thread_id()
        first, last = bounds[chunk], bounds[chunk + 1]
        all_columns[chunk], all_values[chunk] = push_chunk(
            indptr,
            indices,
            weights,
            degrees,
            alpha,
            epsilon,
            threshold,
            top_k,
            first,
            lengths[first - bounds[0] : last - bounds[0]],
            estimates[thread],
            residuals[thread],
            waitings[thread],
            seens[thread],
            stacks[thread],
            toucheds[thread],
        )
    return lengths, all_columns, all_values


# Not inlined into the parallel loop: numba's analysis of parallel loops takes arrays to keep their size.
@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def push_chunk(
    indptr: Any,
    indices: Any,
    weights: Any,
    degrees: Any,
    alpha: Any,
    epsilon: Any,
    threshold: Any,
    top_k: Any,
    first: Any,
    lengths: Any,
    estimate: Any,
    residual: Any,
    waiting: Any,
    seen: Any,
    stack: Any,
    touched: Any,
) -> Any:
    """The rows from ``first`` on, one after the other in growing arrays."""
    columns, values, filled = np.empty(1024, np.int32), np.empty(1024, np.float32), 0
    for k in range(len(lengths)):
        source = first + k
        reached = walk(
            indptr,
            indices,
            weights,
            degrees,
            alpha,
            epsilon,
            source,
            estimate,
            residual,
            waiting,
            seen,
            stack,
            touched,
        )
        while filled + reached > len(columns):
            columns = np.concatenate((columns, np.empty_like(columns)))
            values = np.concatenate((values, np.empty_like(values)))
        room = slice(filled, filled + reached)
        lengths[k] = harvest(
            degrees, source, threshold, top_k, estimate, touched[:reached], columns[room], values[room]
        )
        filled += lengths[k]
    return columns[:filled].copy(), values[:filled].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def walk(
    indptr: Any,
    indices: Any,
    weights: Any,
    degrees: Any,
    alpha: Any,
    epsilon: Any,
    source: Any,
    estimate: Any,
    residual: Any,
    waiting: Any,
    seen: Any,
    stack: Any,
    touched: Any,
) -> Any:
    """Push from ``source`` until no residual is large; returns how many nodes have an estimate."""
    bound = alpha * epsilon
    reached, waits = 0, 1
    residual[source] = alpha
    stack[0] = source
    waiting[source] = True
    while waits > 0:
        waits -= 1
        node = stack[waits]
        waiting[node] = False
        amount = residual[node]
        residual[node] = 0.0
        if not seen[node]:
            seen[node] = True
            touched[reached] = node
            reached += 1
        estimate[node] += amount
        share = (1 - alpha) * amount / degrees[node]
        for e in range(indptr[node], indptr[node + 1]):
            other = indices[e]
            residual[other] += share if weights is None else share * weights[e]
            if residual[other] >= bound * degrees[other] and not waiting[other]:
                waiting[other] = True
                stack[waits] = other
                waits += 1
    # A residual lies on a node that was pushed or on a neighbour of one: clean both.
    for k in range(reached):
        node = touched[k]
        seen[node] = False
        residual[node] = 0.0
        for e in range(indptr[node], indptr[node + 1]):
            residual[indices[e]] = 0.0
    return reached


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def harvest(
    degrees: Any,
    source: Any,
    threshold: Any,
    top_k: Any,
    estimate: Any,
    touched: Any,
    columns: Any,
    values: Any,
) -> Any:
    """Take the row of ``source`` out of ``estimate``: symmetric weights, sparsified, normalised, sorted."""
    touched.sort()
    kept = 0
    cut = threshold
    if 0 < top_k < len(touched):
        scaled = np.empty(len(touched))
        for k in range(len(touched)):
            scaled[k] = estimate[touched[k]] * np.sqrt(degrees[source] / degrees[touched[k]])
        cut = max(cut, np.partition(scaled, len(scaled) - top_k)[len(scaled) - top_k])
    total = 0.0
    for k in range(len(touched)):
        node = touched[k]
        weight = estimate[node] * np.sqrt(degrees[source] / degrees[node])
        estimate[node] = 0.0
        if weight >= cut and (top_k == 0 or kept < top_k):
            columns[kept] = node
            values[kept] = weight
            total += weight
            kept += 1
    for k in range(kept):
        values[k] /= total
    return kept
