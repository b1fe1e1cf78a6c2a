"""Approximate personalised PageRank by local pushes, in parallel, as a sparse matrix."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange

from sign.graph.csr import CSR, Array, index_type
from sign.graph.partition import row_pointers
from sign.system.jit import compiled, compiled_parallel

BATCH = 1 << 16  # sources that are pushed at a time
CHUNKS_PER_THREAD = 64  # walks differ in length: small chunks keep all threads busy
ROOM = 1024  # initial capacity of a chunk, in entries


class Links(NamedTuple):
    """A graph with its self-loops, and its weighted degrees."""

    indptr: Array
    indices: Array
    degrees: Array


class Rule(NamedTuple):
    """When a walk stops, and which of its weights are kept."""

    alpha: float
    epsilon: float
    threshold: float
    top_k: int


class Scratch(NamedTuple):
    """Dense arrays of one walk (or one row per thread), which every walk leaves zeroed."""

    estimate: Array
    residual: Array
    waiting: Array
    seen: Array
    stack: Array
    touched: Array


def push_rows(csr: CSR, alpha: float, epsilon: float, threshold: float, top_k: int) -> CSR:
    """Return the row-normalised approximation of S, for a graph that has all self-loops."""
    threads = numba.get_num_threads()
    links = Links(csr.indptr, csr.indices, csr.row_sums)
    rule = Rule(alpha, epsilon, threshold, top_k)
    kinds = (np.float64, np.float64, np.bool_, np.bool_, np.int32, np.int32)
    scratch = Scratch(*(np.zeros((threads, csr.nodes), kind) for kind in kinds))
    counts, columns, values = [], [], []
    for start in range(0, csr.nodes, BATCH):
        stop = min(start + BATCH, csr.nodes)
        chunks = min(threads * CHUNKS_PER_THREAD, stop - start)
        bounds = np.linspace(start, stop, chunks + 1).astype(np.int64)
        lengths, indices, weights = push_batch(links, csr.weights, rule, bounds, scratch)
        counts.append(lengths)
        columns += indices
        values += weights
    indices = np.concatenate(columns).astype(index_type(csr.nodes), copy=False)
    return CSR(row_pointers(np.concatenate(counts)), indices, np.concatenate(values))


@compiled_parallel
def push_batch(links: Any, weights: Any, rule: Any, bounds: Any, scratch: Any) -> Any:
    """Return the lengths of the rows ``bounds[0]`` to ``bounds[-1]``, and their columns and weights per chunk."""
    chunks = len(bounds) - 1
    lengths = np.zeros(bounds[-1] - bounds[0], np.int64)
    all_columns = [np.empty(0, np.int32) for _ in range(chunks)]
    all_values = [np.empty(0, np.float32) for _ in range(chunks)]
    for chunk in prange(chunks):
        thread = numba.get_thread_id()
        own = Scratch(
            scratch.estimate[thread],
            scratch.residual[thread],
            scratch.waiting[thread],
            scratch.seen[thread],
            scratch.stack[thread],
            scratch.touched[thread],
        )
        first, last = bounds[chunk], bounds[chunk + 1]
        part = lengths[first - bounds[0] : last - bounds[0]]
        all_columns[chunk], all_values[chunk] = push_chunk(links, weights, rule, first, part, own)
    return lengths, all_columns, all_values


# Outside the parallel loop, because numba's analysis of parallel loops assumes that arrays keep their size.
@compiled
def push_chunk(links: Any, weights: Any, rule: Any, first: Any, lengths: Any, scratch: Any) -> Any:
    """Return the rows from ``first`` on, concatenated in growing arrays."""
    columns, values, filled = np.empty(ROOM, np.int32), np.empty(ROOM, np.float32), 0
    for k in range(len(lengths)):
        reached = walk(links, weights, rule, first + k, scratch)
        while filled + reached > len(columns):
            columns = np.concatenate((columns, np.empty_like(columns)))
            values = np.concatenate((values, np.empty_like(values)))
        room = slice(filled, filled + reached)
        lengths[k] = harvest(links, rule, first + k, scratch, reached, columns[room], values[room])
        filled += lengths[k]
    return columns[:filled].copy(), values[:filled].copy()


@compiled
def walk(links: Any, weights: Any, rule: Any, source: Any, scratch: Any) -> Any:
    """Push from ``source`` until no residual is large; returns how many nodes have an estimate."""
    indptr, indices, degrees = links
    estimate, residual, waiting, seen, stack, touched = scratch
    bound = rule.alpha * rule.epsilon
    reached, waits = 0, 1
    residual[source] = rule.alpha
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
        share = (1 - rule.alpha) * amount / degrees[node]
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


@compiled
def harvest(links: Any, rule: Any, source: Any, scratch: Any, reached: Any, columns: Any, values: Any) -> Any:
    """Move the row of ``source`` out of the estimates: symmetric weights, sparsified, normalised, sorted."""
    degrees, estimate, touched = links.degrees, scratch.estimate, scratch.touched[:reached]
    touched.sort()
    cut = rule.threshold
    if 0 < rule.top_k < reached:
        scaled = np.empty(reached)
        for k in range(reached):
            scaled[k] = estimate[touched[k]] * np.sqrt(degrees[source] / degrees[touched[k]])
        cut = max(cut, np.partition(scaled, reached - rule.top_k)[reached - rule.top_k])
    ties = reached  # kept among the weights that equal the cut; larger ones and the source are always kept
    if rule.top_k > 0:
        ties = rule.top_k - 1
        for k in range(reached):
            above = estimate[touched[k]] * np.sqrt(degrees[source] / degrees[touched[k]]) > cut
            ties -= above and touched[k] != source
    kept, total = 0, 0.0
    for k in range(reached):
        node = touched[k]
        weight = estimate[node] * np.sqrt(degrees[source] / degrees[node])
        estimate[node] = 0.0
        if node != source:
            if weight < cut or (weight == cut and ties <= 0):
                continue
            ties -= weight == cut
        columns[kept] = node
        values[kept] = weight
        total += weight
        kept += 1
    for k in range(kept):
        values[k] /= total
    return kept
