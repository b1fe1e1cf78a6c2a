"""Compiled draws of GraphSAINT, and its normalisation in closed form."""

from typing import Any

import numpy as np
from numba import prange

from sign.baselines.samplers.block_kernels import has_entry
from sign.baselines.samplers.streams import below, substream
from sign.system.jit import compiled, compiled_inline, compiled_parallel

ROUNDING = 1e-13  # a joint probability below this part of the single one is zero up to rounding


@compiled
def draw_edges(indptr: Any, indices: Any, connected: Any, draws: Any, key: Any) -> Any:
    """Return both ends of edges: a uniform node of ``connected``, and a uniform neighbour of it."""
    drawn = np.empty(2 * draws, np.int64)
    for i in range(draws):
        node = connected[below(key, 2 * i, len(connected))]
        length = indptr[node + 1] - indptr[node]
        drawn[2 * i] = node
        drawn[2 * i + 1] = indices[indptr[node] + below(key, 2 * i + 1, length)]
    return drawn


@compiled
def draw_walks(indptr: Any, indices: Any, roots: Any, length: Any, key: Any) -> Any:
    """Return the nodes of walks to uniform neighbours, roots included; a walk ends where there is none."""
    drawn = np.empty(roots * (length + 1), np.int64)
    filled = 0
    for i in range(roots):
        walk = substream(key, i)
        node = below(walk, 0, len(indptr) - 1)
        drawn[filled] = node
        filled += 1
        for step in range(length):
            degree = indptr[node + 1] - indptr[node]
            if degree == 0:
                break
            node = indices[indptr[node] + below(walk, step + 1, degree)]
            drawn[filled] = node
            filled += 1
    return drawn[:filled].copy()


@compiled_inline
def corrected(weight: Any, own: Any, other: Any, either: Any, draws: Any) -> Any:
    """Return ``weight`` * p_v / p_uv of an entry in row v.

    ``own`` and ``other`` are p_v and p_u, and ``either`` is the probability that a single draw has u or v.
    """
    joint = own + other + np.expm1(draws * np.log1p(-min(either, 1.0)))
    return weight * own / joint if joint > ROUNDING * own else 0.0


@compiled_parallel
def edge_weights_by_nodes(
    indptr: Any, indices: Any, weights: Any, single: Any, included: Any, draws: Any, bounds: Any, entries: Any
) -> None:
    """Normalise the entries of some rows for independent draws of nodes."""
    for part in prange(len(bounds) - 1):
        for v in range(bounds[part], bounds[part + 1]):
            for entry in range(indptr[v], indptr[v + 1]):
                u = indices[entry]
                weight = 1.0 if weights is None else weights[entry]
                if u != v:
                    weight = corrected(weight, included[v], included[u], single[v] + single[u], draws)
                entries[entry] = weight


@compiled
def endpoint_probabilities(indptr: Any, indices: Any) -> Any:
    """Return the probability that a draw of one edge has each node as an end, and that it is each entry of a row."""
    nodes = len(indptr) - 1
    connected = 0
    for v in range(nodes):
        connected += indptr[v + 1] > indptr[v]
    single, entry_of_row = np.zeros(nodes, np.float64), np.zeros(nodes, np.float64)
    for v in range(nodes):
        degree = indptr[v + 1] - indptr[v]
        if degree > 0:
            single[v] += 1.0 / connected
            entry_of_row[v] = 1.0 / (connected * degree)
            for entry in range(indptr[v], indptr[v + 1]):
                single[indices[entry]] += entry_of_row[v]
    return single, entry_of_row


@compiled_parallel
def edge_weights_by_edges(
    indptr: Any,
    indices: Any,
    weights: Any,
    single: Any,
    entry_of_row: Any,
    included: Any,
    draws: Any,
    bounds: Any,
    entries: Any,
) -> None:
    """Normalise the entries of some rows for independent draws of edges."""
    for part in prange(len(bounds) - 1):
        for v in range(bounds[part], bounds[part + 1]):
            for entry in range(indptr[v], indptr[v + 1]):
                u = indices[entry]
                weight = 1.0 if weights is None else weights[entry]
                edge = entry_of_row[v]
                if has_entry(indptr, indices, u, v):  # always, unless the graph is directed
                    edge += entry_of_row[u]
                either = single[v] + single[u] - edge
                entries[entry] = corrected(weight, included[v], included[u], either, draws)
