"""The number of triangles, cliques and four-cycles that contain each edge: parallel, exact, in integers.

Every edge is oriented towards its end of higher degree, so that a row has at most √(2m) entries and each clique is
found once, from its lowest node. Counts are added atomically, and as they are integers the order of threads changes
nothing. Besides the graph, memory is one counter per edge and, per thread, a few numbers per node.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import prange
from numba.core import cgutils, types
from numba.extending import intrinsic

from sign.errors import SignError
from sign.graph.csr import CSR, Array
from sign.graph.partition import row_pointers
from sign.operators.base import Motif
from sign.system.jit import compiled, compiled_parallel

CHUNK = 256  # rows that a thread takes at a time


def count_motifs(motif: Motif, csr: CSR) -> Array:
    """Return, for each entry of a symmetric matrix without self-loops, the motifs that contain the edge."""
    if motif.kind == "clique":
        return triangles(csr) if motif.size == 3 else cliques(csr, motif.size)
    if motif.size != 4:
        raise SignError(f"cycles of {motif.size} nodes cannot be counted; only cycles of 4 nodes can")
    return four_cycles(csr)


def triangles(csr: CSR) -> Array:
    """Return the number of triangles that contain each edge."""
    return _count_oriented(csr, count_triangles)


def cliques(csr: CSR, size: int) -> Array:
    """Return the number of cliques of ``size`` nodes that contain each edge."""
    return _count_oriented(csr, count_cliques, size)


def _count_oriented(csr: CSR, kernel: Callable[..., None], *arguments: int) -> Array:
    indptr, indices = orient(csr)
    counts = np.zeros(len(indices), np.int64)
    kernel(indptr, indices, counts, *arguments, numba.get_num_threads())
    return spread(csr.indptr, csr.indices, indptr, indices, counts)  # type: ignore[no-any-return]


def four_cycles(csr: CSR) -> Array:
    """Return the number of cycles of four nodes that contain each edge."""
    counts = np.empty(csr.entries, np.int64)
    count_four_cycles(csr.indptr, csr.indices, counts, numba.get_num_threads())
    return counts


def orient(csr: CSR) -> tuple[Array, Array]:
    """Return the rows and columns of the edges that point to their end of higher degree."""
    indptr = row_pointers(count_upwards(csr.indptr, csr.indices))
    indices = np.empty(indptr[-1], csr.indices.dtype)
    fill_upwards(csr.indptr, csr.indices, indptr, indices)
    return indptr, indices


@compiled
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


@compiled
def upwards(indptr: Any, u: Any, v: Any) -> Any:
    """Whether v has the higher degree; equal ones are ordered by number."""
    a, b = indptr[u + 1] - indptr[u], indptr[v + 1] - indptr[v]
    return a < b or (a == b and u < v)


@compiled_parallel
def count_upwards(indptr: Any, indices: Any) -> Any:
    """The length of each oriented row."""
    lengths = np.zeros(len(indptr) - 1, np.int64)
    for u in prange(len(lengths)):
        for e in range(indptr[u], indptr[u + 1]):
            lengths[u] += upwards(indptr, u, indices[e])
    return lengths


@compiled_parallel
def fill_upwards(indptr: Any, indices: Any, out_indptr: Any, out_indices: Any) -> None:
    """The entries of each oriented row, in the order of their numbers."""
    for u in prange(len(indptr) - 1):
        filled = out_indptr[u]
        for e in range(indptr[u], indptr[u + 1]):
            if upwards(indptr, u, indices[e]):
                out_indices[filled] = indices[e]
                filled += 1


@compiled_parallel
def spread(indptr: Any, indices: Any, up_indptr: Any, up_indices: Any, counts: Any) -> Any:
    """The count of an oriented edge, at both entries of the symmetric matrix."""
    result = np.empty(len(indices), np.int64)
    for u in prange(len(indptr) - 1):
        f = up_indptr[u]  # the entries that point upwards come in the same order in both
        for e in range(indptr[u], indptr[u + 1]):
            if f < up_indptr[u + 1] and up_indices[f] == indices[e]:
                result[e] = counts[f]
                result[find(indptr, indices, indices[e], u)] = counts[f]
                f += 1
    return result


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


@compiled_parallel
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


@compiled_parallel
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
            for k in range(sizes[depth]):
                w = candidates[depth, k]
                if find(indptr, indices, v, w) >= 0:
                    candidates[depth + 1, kept] = w
                    kept += 1
            depth += 1
            sizes[depth], cursors[depth] = kept, 0


@compiled_parallel
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
