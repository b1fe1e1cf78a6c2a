"""Arrays over all nodes in which kernels mark and number the nodes of a batch.

A kernel finds them cleared and clears them again, so that a batch costs nothing for the nodes that it does not have.
Bits mark nodes where most questions are answered by no: the bits of a few million nodes fit in a cache.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sign.system.jit import compiled, compiled_inline


class NodeArrays(NamedTuple):
    """The number of each node in a batch, -1 without one, and a bit per node."""

    numbers: NDArray[np.int32]
    bits: NDArray[np.uint64]


class Scratch:
    """One pair of arrays per thread."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._local = threading.local()

    def arrays(self) -> NodeArrays:
        """Return the arrays of this thread."""
        if not hasattr(self._local, "arrays"):
            bits = np.zeros(self._nodes // 64 + 1, np.uint64)
            self._local.arrays = NodeArrays(np.full(self._nodes, -1, np.int32), bits)
        arrays: NodeArrays = self._local.arrays
        return arrays


@compiled_inline
def mark(bits: Any, node: Any) -> None:
    """Set the bit of a node."""
    bits[node >> 6] |= np.uint64(1) << np.uint64(node & 63)


@compiled_inline
def is_marked(bits: Any, node: Any) -> Any:
    """Whether the bit of a node is set."""
    return (bits[node >> 6] >> np.uint64(node & 63)) & np.uint64(1) != 0


@compiled
def distinct(drawn: Any, bits: Any) -> Any:
    """Return the nodes of a list once each, sorted."""
    for i in range(len(drawn)):
        mark(bits, drawn[i])
    nodes = np.empty(len(drawn), np.int64)
    found = 0
    for word in range(len(bits)):
        marks = bits[word]
        if marks:
            bits[word] = 0
            node = 64 * word
            while marks:
                if marks & np.uint64(1):
                    nodes[found] = node
                    found += 1
                marks >>= np.uint64(1)
                node += 1
    return nodes[:found].copy()


@compiled
def marked_entries(indptr: Any, indices: Any, rows: Any, bits: Any) -> Any:
    """Return where each row starts in a list of its entries whose column is marked, and that list."""
    longest = 0
    for i in range(len(rows)):
        longest = max(longest, indptr[rows[i] + 1] - indptr[rows[i]])
    starts = np.zeros(len(rows) + 1, np.int64)
    entries = np.empty(4 * len(rows) + longest + 1, np.int64)
    filled = 0
    for i in range(len(rows)):
        first, last = indptr[rows[i]], indptr[rows[i] + 1]
        if filled + last - first >= len(entries):
            entries = np.concatenate((entries, np.empty_like(entries)))
        for entry in range(first, last):  # without a branch, which could not be predicted
            entries[filled] = entry
            filled += is_marked(bits, indices[entry])
        starts[i + 1] = filled
    return starts, entries[:filled].copy()
