"""Induced subgraphs."""

from typing import Any

import numpy as np

from sign.baselines.samplers.batches import Integers
from sign.baselines.samplers.scratch import Scratch, mark, marked_entries
from sign.graph.csr import CSR
from sign.system.jit import compiled


def induce(adjacency: CSR, nodes: Integers, scratch: Scratch) -> tuple[Integers, Integers, Integers]:
    """Return the subgraph of sorted nodes: ``indptr``, columns, and the positions of its entries in the matrix."""
    induced: tuple[Integers, Integers, Integers] = select_induced(
        adjacency.indptr, adjacency.indices, nodes, scratch.arrays()
    )
    return induced


@compiled
def select_induced(indptr: Any, indices: Any, nodes: Any, scratch: Any) -> Any:
    """Select the entries in the rows and columns of ``nodes``."""
    numbers, bits = scratch
    for i in range(len(nodes)):
        numbers[nodes[i]] = i
        mark(bits, nodes[i])
    starts, entries = marked_entries(indptr, indices, nodes, bits)
    columns = np.empty(len(entries), np.int64)
    for k in range(len(entries)):
        columns[k] = numbers[indices[entries[k]]]
    for i in range(len(nodes)):
        numbers[nodes[i]] = -1
        bits[nodes[i] >> 6] = 0
    return starts, columns, entries


def entry_weights(adjacency: CSR, entries: Integers) -> Any:
    """Return the weights of some entries."""
    return np.ones(len(entries), np.float32) if adjacency.weights is None else adjacency.weights.take(entries)
