"""How many triangles, cliques and four-cycles each edge is in: parallel, exact, in integers.

Nodes are ordered by degree and every edge is pointed to its higher end, so that a row has at most
√(2m) entries and each clique is found once, from its lowest node. Counts are added atomically: integers,
so the order of threads changes nothing. Beside the graph, memory is one counter an edge and, for each
thread, a few arrays of one number a node.
"""

from typing import Any

import numba
import numpy as np
from numba import njit, prange
from numba.core import cgutils, types
from numba.extending import intrinsic

from sign.sparse import CSR, Array

CHUNK = 256  # rows that a thread takes at a time; hubs are spread by the shuffled order of chunks


def triangles(csr: CSR) -> Array:
    """For every entry of a symmetric loopless matrix, the triangles it is in."""
    oriented, back = orient(csr)
    counts = np.zeros(oriented.entries, np.int64)
    count_triangles(oriented.indptr, oriented.indices, counts, numba.get_num_threads())
    return counts[back]


def cliques(csr: CSR, size: int) -> Array:
    """For every entry of a symmetric loopless matrix, the cliques of ``size`` nodes it is in."""
    oriented, back = orient(csr)
    counts = np.zeros(oriented.entries, np.int64)
    count_cliques(oriented.indptr, oriented.indices, counts, size, numba.get_num_threads())
    return counts[back]


def four_cycles(csr: CSR) -> Array:
    """For every entry of a symmetric loopless matrix, the cycles of four nodes it is in."""
    counts = np.empty(csr.entries, np.int64)
    count_four_cycles(csr.indptr, csr.indices, counts, numba.get_num_threads())
    return counts


def orient(csr: CSR) -> tuple[CSR, Array]:
    """The edges renumbered by degree and pointed upwards, and for each entry of ``csr`` its oriented edge."""
    degrees = np.diff(csr.indptr)
    rank = np.empty(csr.nodes, np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(csr.nodes)
    source, target = rank[csr.rows], rank[csr.indices]
    low, high = np.minimum(source, target), np.maximum(source, target)
    upwards = np.flatnonzero(source < target)
    order = upwards[np.lexsort((high[upwards], low[upwards]))]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(low[order], minlength=csr.nodes))]).astype(np.int64)
    oriented = CSR(indptr, high[order].astype(csr.indices.dtype))
    codes = low[order] * csr.nodes + high[order]
    return oriented, np.searchsorted(codes, low * csr.nodes + high)


@intrinsic  # type: ignore[untyped-decorator]
def add_atomically(typing_context: Any, array: Any, index: Any) -> Any:
    """``array[index] += 1``, safe when threads do it at once."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        layout = signature.args[0]
        struct = context.make_array(layout)(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, layout, struct, [args[1]], wraparound=False)
        one = context.get_constant(types.int64, 1)
        builder.atomic_rmw("add", pointer, one, "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@njit(parallel=True, cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_triangles(indptr: Any, indices: Any, counts: Any, threads: Any) -> None:
    """Mark the row of a node, then look for marks in the rows of its entries."""
    nodes = len(indptr) - 1
    marks = np.full((threads, nodes), -1, np.int64)
    chunks = (nodes + CHUNK - 1) // CHUNK
    for chunk in prange(chunks):
        mark = marks[numba.get_thread_id()]
        for u in range(chunk * CHUNK, min((chunk + 1) * CHUNK, nodes)):
            if indptr[u + 1] - indptr[u] < 2:
                continue
            for e in range(indptr[u], indptr[u + 1]):
                mark[indices[e]] = e
            for e in range(indptr[u], indptr[u + 1]):
                v = indices[e]
                for f in range(indptr[v], indptr[v + 1]):
                    g = mark[indices[f]]
                    if g >= 0:
                        add_atomically(counts, e)
                        add_atomically(counts, f)
                        add_atomically(counts, g)
            for e in range(indptr[u], indptr[u + 1]):
                mark[indices[e]] = -1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find(indptr: Any, indices: Any, u: Any, v: Any) -> Any:
    """The entry (u, v), or -1."""
    low, high = indptr[u], indptr[u + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low if low < indptr[u + 1] and indices[low] == v else -1


@njit(parallel=True, cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_cliques(indptr: Any, indices: Any, counts: Any, size: Any, threads: Any) -> None:
    """Extend a clique by a node of its candidates: the common entries of the rows of its members."""
    nodes = len(indptr) - 1
    widest = 1
    for u in range(nodes):
        widest = max(widest, indptr[u + 1] - indptr[u])
    everyones_candidates = np.empty((threads, size, widest), np.int64)
    for u in prange(nodes):
        candidates = everyones_candidates[numba.get_thread_id()]
        clique, sizes, cursors = np.empty(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
        clique[0] = u
        for e in range(indptr[u], indptr[u + 1]):
            candidates[0, e - indptr[u]] = indices[e]
        sizes[0] = indptr[u + 1] - indptr[u]
        depth = 0  # members beyond u
        while depth >= 0:
            if cursors[depth] == sizes[depth]:
                depth -= 1
                continue
            v = candidates[depth, cursors[depth]]
            cursors[depth] += 1
            clique[depth + 1] = v
            if depth + 2 == size:
                for a in range(size):
                    for b in range(a + 1, size):
                        add_atomically(counts, find(indptr, indices, clique[a], clique[b]))
                continue
            kept = 0
            for k in range(cursors[depth], sizes[depth]):
                w = candidates[depth, k]
                if find(indptr, indices, v, w) >= 0:
                    candidates[depth + 1, kept] = w
                    kept += 1
            depth += 1
            sizes[depth], cursors[depth] = kept, 0


@njit(parallel=True, cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_four_cycles(indptr: Any, indices: Any, counts: Any, threads: Any) -> None:
    """Walks of three steps between the ends of each edge, less those that turn back."""
    nodes = len(indptr) - 1
    everyones_walks = np.zeros((threads, nodes), np.int64)
    for i in prange(nodes):
        walks = everyones_walks[numba.get_thread_id()]  # of two steps from i, by their end
        for e in range(indptr[i], indptr[i + 1]):
            k = indices[e]
            for f in range(indptr[k], indptr[k + 1]):
                walks[indices[f]] += 1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            total = 0
            for f in range(indptr[j], indptr[j + 1]):
                total += walks[indices[f]]
            counts[e] = total - (indptr[i + 1] - indptr[i]) - (indptr[j + 1] - indptr[j]) + 1
        for e in range(indptr[i], indptr[i + 1]):
            k = indices[e]
            for f in range(indptr[k], indptr[k + 1]):
                walks[indices[f]] = 0
