"""The ends of all non-backtracking walks from each node: followed in parallel, summed in double precision.

Walks are followed twice: once to count the ends of each row, and once to write them to arrays of that size, which may
be mapped from files.
"""

from typing import Any

import numba
import numpy as np
from numba import prange

from sign.graph.csr import CSR, empty_entries, index_type
from sign.graph.partition import blocks_by_window, row_pointers
from sign.system.jit import compiled, compiled_parallel


def walk_ends(csr: CSR, length: int, top_k: int) -> CSR:
    """Return, for a symmetric matrix without self-loops, the weight of the walks between each two nodes.

    With ``top_k``, only so many of the largest weights of each row are kept; of equal ones, those of lower columns.
    """
    lengths = np.zeros(csr.nodes, np.int64)
    weights = np.ones(0, np.float32) if csr.weights is None else csr.weights
    links = (csr.indptr, csr.indices, weights)
    scratch = np.zeros((numba.get_num_threads(), csr.nodes))
    nothing = (np.zeros(1, np.int64), np.empty(0, index_type(csr.nodes)), np.empty(0, np.float32))
    for bounds in csr.blocks():
        follow_walks(links, length, top_k, bounds, scratch, lengths, *nothing)
    indptr = row_pointers(lengths)
    indices, values = empty_entries(indptr, index_type(csr.nodes), weighted=True)
    for bounds in blocks_by_window(indptr, indices, values):
        follow_walks(links, length, top_k, bounds, scratch, lengths, indptr, indices, values)
    return CSR(indptr, indices, values)


@compiled_parallel
def follow_walks(
    links: Any, length: Any, top_k: Any, bounds: Any, scratch: Any, lengths: Any, indptr: Any, indices: Any, values: Any
) -> None:
    """Write the ends of the walks from each row within ``bounds``; without rows in ``indptr``, only count them."""
    for part in prange(len(bounds) - 1):
        sums = scratch[numba.get_thread_id()]
        for i in range(bounds[part], bounds[part + 1]):
            reached = follow(links, length, i, sums)
            kept = largest(reached, sums, top_k)
            lengths[i] = len(kept)
            if len(indptr) > 1:
                for k in range(len(kept)):
                    indices[indptr[i] + k] = kept[k]
                    values[indptr[i] + k] = sums[kept[k]]
            for node in reached:
                sums[node] = 0.0


@compiled
def follow(links: Any, length: Any, source: Any, sums: Any) -> Any:
    """Add the weight of each walk from ``source`` to that of its end; return the ends in ascending order."""
    indptr, indices, weights = links
    ends = np.empty(64, np.int64)
    found = 0
    nodes, cursors, products = np.empty(length + 1, np.int64), np.empty(length, np.int64), np.ones(length + 1)
    nodes[0], cursors[0] = source, indptr[source]
    depth = 0
    while depth >= 0:
        e = cursors[depth]
        if e == indptr[nodes[depth] + 1]:
            depth -= 1
            continue
        cursors[depth] += 1
        other = indices[e]
        if depth > 0 and other == nodes[depth - 1]:
            continue
        weight = products[depth] * (weights[e] if len(weights) else 1.0)
        if depth + 1 < length:
            depth += 1
            nodes[depth], cursors[depth], products[depth] = other, indptr[other], weight
            continue
        if sums[other] == 0.0:
            if found == len(ends):
                ends = np.concatenate((ends, np.empty_like(ends)))
            ends[found] = other
            found += 1
        sums[other] += weight
    ends = ends[:found]
    ends.sort()
    return ends


@compiled
def largest(ends: Any, sums: Any, top_k: Any) -> Any:
    """Return those of the sorted ends that have the ``top_k`` largest sums, or all if it is 0."""
    if top_k == 0 or len(ends) <= top_k:
        return ends
    cut = np.partition(sums[ends], len(ends) - top_k)[len(ends) - top_k]
    ties = top_k
    for node in ends:
        ties -= sums[node] > cut
    kept = np.empty(top_k, np.int64)
    filled = 0
    for node in ends:
        if sums[node] > cut or (sums[node] == cut and ties > 0):
            ties -= sums[node] == cut
            kept[filled] = node
            filled += 1
    return kept
