"""Induced subgraphs."""

from typing import Any

import numpy as np

from sign.baselines.samplers.batches import Integers
from sign.baselines.samplers.parallel import NodeNumbers
from sign.graph.csr import CSR
from sign.system.jit import compiled


def induce(adjacency: CSR, nodes: Integers, numbers: NodeNumbers) -> tuple[Integers, Integers, Integers]:
    """Return the subgraph of sorted nodes: ``indptr``, columns, and the positions of its entries in the matrix."""
    induced: tuple[Integers, Integers, Integers] = select_induced(
        adjacency.indptr, adjacency.indices, nodes, numbers.array()
    )
    return induced


@compiled
def select_induced(indptr: Any, indices: Any, nodes: Any, number: Any) -> Any:
    """Select the entries in the rows and columns of ``nodes``; ``number`` is -1 before and after."""
    size = 0
    for i in range(len(nodes)):
        number[nodes[i]] = i
        size += min(len(nodes), indptr[nodes[i] + 1] - indptr[nodes[i]])
    starts = np.zeros(len(nodes) + 1, np.int64)
    columns, entries = np.empty(size, np.int64), np.empty(size, np.int64)
    filled = 0
    for i in range(len(nodes)):
        for entry in range(indptr[nodes[i]], indptr[nodes[i] + 1]):
            place = number[indices[entry]]
            if place >= 0:
                columns[filled] = place
                entries[filled] = entry
                filled += 1
        starts[i + 1] = filled
    for i in range(len(nodes)):
        number[nodes[i]] = -1
    return starts, columns[:filled].copy(), entries[:filled].copy()


def entry_weights(adjacency: CSR, entries: Integers) -> Any:
    """Return the weights of some entries."""
    return np.ones(len(entries), np.float32) if adjacency.weights is None else adjacency.weights.take(entries)
