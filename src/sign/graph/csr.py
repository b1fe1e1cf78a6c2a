"""Sparse matrices as plain arrays: rows of an adjacency, and the scaled matrix an engine multiplies."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.errors import SignError
from sign.graph.partition import (
    BLOCKS_PER_THREAD,
    blocks_by_window,
    pointers,
    row_blocks,
    thread_blocks,
    windows,
)
from sign.system import arrays
from sign.system.hashing import digest

if TYPE_CHECKING:
    import scipy.sparse

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float32]
WEIGHTS = (1e-12, 1e12)  # the range of edge weights: their products and inverses stay within float32


def index_type(largest: int) -> type[np.int32] | type[np.int64]:
    """int32 where it can count to ``largest``, else int64."""
    return np.int32 if largest < 2**31 else np.int64


def check_weights(weights: Array, edges: int) -> None:
    """Refuse weights that are not positive, or that products in float32 could not hold."""
    if weights.shape != (edges,):
        raise SignError(f"weights of shape {weights.shape} for {edges} edges")
    low, high = WEIGHTS
    for part in arrays.chunks(weights):
        right = (weights[part] >= low) & (weights[part] <= high)
        if not right.all():
            raise SignError(
                f"an edge has weight {weights[part][~right][0]}; "
                f"weights must be positive and finite, from {low:g} to {high:g}"
            )


def check_ends(ends: Array, nodes: int) -> None:
    """Refuse edges of nodes that do not exist."""
    for part in arrays.chunks(ends):
        low, high = int(ends[part].min()), int(ends[part].max())
        if low < 0 or high >= nodes:
            wrong = low if low < 0 else high
            raise SignError(f"an edge names node {wrong}, but nodes are numbered 0 to {nodes - 1}")


@dataclass(frozen=True, eq=False)
class CSR:
    """Compressed sparse rows of a square matrix; ``weights=None`` stands for ones.

    ``listed`` is how many edges it was made of, where that is known; edges that are there twice become one.

    Columns are sorted and unique within a row, so equal matrices have equal arrays and digests. The arrays may be
    memory-mapped: they are read in windows of rows.
    """

    indptr: NDArray[np.int64]
    indices: Array
    weights: Floats | None = None
    listed: int | None = None

    @property
    def nodes(self) -> int:
        """Number of rows, and of columns."""
        return len(self.indptr) - 1

    @property
    def entries(self) -> int:
        """Number of stored entries."""
        return len(self.indices)

    @property
    def arrays(self) -> tuple[Array, Array | None]:
        """What is stored of each entry."""
        return self.indices, self.weights

    @property
    def blocks(self) -> Iterator[Array]:
        """Boundaries of blocks of rows for threads, a window of mapped rows at a time."""
        return blocks_by_window(self.indptr, *self.arrays)

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the matrix."""
        return digest(self.indptr, self.indices, self.weights)

    @cached_property
    def row_sums(self) -> NDArray[np.float64]:
        """The weighted degree of every row, summed in double precision."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        from sign.graph.query_kernels import sum_rows

        sums = np.empty(self.nodes)
        for bounds in self.blocks:
            sum_rows(self.indptr, self.weights, bounds, sums)
        return sums

    @classmethod
    def from_edges(
        cls, source: Array, target: Array, nodes: int, weights: Array | None = None, both: bool = False
    ) -> "CSR":
        """The matrix with an entry (source, target) for each edge and, with ``both``, its reverse.

        Parallel edges become one: without weights it counts once, with weights it is their sum.
        """
        from sign.graph import build_kernels

        source, target = np.asanyarray(source), np.asanyarray(target)
        for ends in (source, target):
            if ends.dtype.kind not in "iu" and ends.size:
                raise SignError(f"edges of type {ends.dtype}; nodes are numbered by integers")
        if len(source) != len(target):
            raise SignError(f"{len(source)} edge sources but {len(target)} edge targets")
        for ends in (source, target):
            check_ends(ends, nodes)
        if weights is not None:
            check_weights(weights, len(source))
        lengths = np.zeros(nodes, np.int64)
        threads = np.linspace(0, nodes, thread_blocks() // BLOCKS_PER_THREAD + 1).astype(np.int64)
        for part in arrays.chunks(source):
            build_kernels.count_edges(source[part], target[part], both, threads, lengths)
            arrays.release(target[part])
        indptr = pointers(lengths)
        indices = arrays.empty(int(indptr[-1]), index_type(nodes))
        values = None if weights is None else arrays.empty(len(indices), np.float32)
        cursors = indptr[:-1].copy()
        for blocks in blocks_by_window(indptr, indices, values):
            for part in arrays.chunks(source):
                given = None if weights is None else weights[part]
                threads = blocks[::BLOCKS_PER_THREAD]
                build_kernels.place_edges(
                    source[part], target[part], given, both, threads, cursors, indices, values
                )
                arrays.release(target[part], given)
            build_kernels.sort_rows(indptr, indices, values, blocks, lengths)
        return replace(cls._joined(indptr, lengths, indices, values), listed=len(source))

    @classmethod
    def _joined(cls, indptr: Array, lengths: Array, indices: Array, values: Array | None) -> "CSR":
        """The matrix whose rows have only their first ``lengths`` entries."""
        from sign.graph.build_kernels import close_gaps

        kept = int(lengths.sum())
        if kept == len(indices):
            return cls(indptr, indices, values)
        close_gaps(indptr, lengths, indices)
        if values is not None:
            close_gaps(indptr, lengths, values)
        return cls(pointers(lengths), indices[:kept], None if values is None else values[:kept])

    @classmethod
    def from_scipy(cls, matrix: "scipy.sparse.csr_array", weighted: bool = True) -> "CSR":
        """The same matrix; ``weighted=False`` keeps the pattern alone."""
        if matrix.shape[0] != matrix.shape[1]:
            raise SignError(
                f"a matrix of shape {matrix.shape}; the rows and columns of a graph are its nodes"
            )
        matrix.sum_duplicates()
        matrix.sort_indices()
        indices = matrix.indices.astype(index_type(matrix.shape[0]))
        weights = matrix.data.astype(np.float32) if weighted else None
        return cls(matrix.indptr.astype(np.int64), indices, weights)

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """The same matrix for scipy (weights of one are written out)."""
        import scipy.sparse

        data = np.ones(self.entries, np.float32) if self.weights is None else self.weights
        return scipy.sparse.csr_array((data, self.indices, self.indptr), (self.nodes, self.nodes))

    @property
    def is_canonical(self) -> bool:
        """Whether rows follow each other, and their columns are nodes, sorted and unique."""
        from sign.graph.query_kernels import misplaced

        lengths = np.diff(self.indptr)
        if self.indptr[0] != 0 or self.indptr[-1] != self.entries or (lengths < 0).any():
            return False
        return not any(misplaced(self.indptr, self.indices, bounds) for bounds in self.blocks)

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is its own transpose, up to rounding of weights."""
        from sign.graph.query_kernels import asymmetry, same_weights

        difference = sum(int(asymmetry(self.indptr, self.indices, bounds)) for bounds in self.blocks)
        if difference % 2**64:
            return False
        return self.weights is None or all(
            same_weights(self.indptr, self.indices, self.weights, bounds) for bounds in self.blocks
        )

    @cached_property
    def transposed(self) -> "CSR":
        """The rows of the transpose."""
        from sign.graph.build_kernels import count_columns, place_columns

        lengths = np.zeros(self.nodes, np.int64)
        threads = np.linspace(0, self.nodes, thread_blocks() // BLOCKS_PER_THREAD + 1).astype(np.int64)
        for rows, part in self._spans():
            count_columns(rows, self.indices[part], threads, lengths)
        indptr = pointers(lengths)
        indices = arrays.empty(self.entries, self.indices.dtype)
        values = None if self.weights is None else arrays.empty(self.entries, np.float32)
        cursors = indptr[:-1].copy()
        for blocks in blocks_by_window(indptr, indices, values):
            threads = blocks[::BLOCKS_PER_THREAD]
            first = 0
            for rows, part in self._spans():
                given = None if self.weights is None else self.weights[part]
                place_columns(rows, self.indices[part], given, threads, cursors, indices, values, first)
                first += len(rows) - 1
        return CSR(indptr, indices, values)

    @property
    def rows(self) -> Array:
        """The row of every entry."""
        return np.repeat(np.arange(self.nodes, dtype=self.indices.dtype), np.diff(self.indptr))

    def mean_with_transpose(self) -> "CSR":
        r""":math:`½(W + W^⊤)`."""
        from sign.graph.build_kernels import count_union, fill_mean

        other = self.transposed
        mine, theirs = (self.indptr, self.indices), (other.indptr, other.indices)
        lengths = np.empty(self.nodes, np.int64)
        for bounds in blocks_by_window(self.indptr, self.indices, other.indices):
            count_union(*mine, *theirs, bounds, lengths)
        indptr = pointers(lengths)
        indices = arrays.empty(int(indptr[-1]), self.indices.dtype)
        values = arrays.empty(len(indices), np.float32)
        for bounds in blocks_by_window(indptr, indices, values, *self.arrays, *other.arrays):
            fill_mean(*mine, self.weights, *theirs, other.weights, bounds, indptr, indices, values)
        return CSR(indptr, indices, values)

    def keep(self, chosen: NDArray[np.bool_]) -> "CSR":
        """The entries that are chosen."""
        from sign.graph.build_kernels import copy_chosen
        from sign.graph.query_kernels import sum_rows

        lengths = np.empty(self.nodes, np.int64)
        for bounds in blocks_by_window(self.indptr, chosen):
            sum_rows(self.indptr, chosen, bounds, lengths)
        indptr = pointers(lengths)
        if indptr[-1] == self.entries:
            return self
        copies = []
        for array in (self.indices, self.weights):
            if array is None:
                continue
            copies.append(arrays.empty(int(indptr[-1]), array.dtype))
            for bounds in blocks_by_window(self.indptr, array, chosen, copies[-1]):
                copy_chosen(self.indptr, array, chosen, bounds, indptr, copies[-1])
        indices, *weights = copies
        return CSR(indptr, indices, weights[0] if weights else None)

    def without_loops(self) -> "CSR":
        """The matrix without its diagonal."""
        from sign.graph.query_kernels import mark_loops

        chosen = arrays.empty(self.entries, np.bool_)
        for bounds in blocks_by_window(self.indptr, self.indices, chosen):
            mark_loops(self.indptr, self.indices, bounds, chosen)
        return self.keep(chosen)

    def with_loops(self) -> "CSR":
        """The matrix with one added to its diagonal."""
        import scipy.sparse

        identity = scipy.sparse.eye_array(self.nodes, dtype=np.float32, format="csr")
        plain = self.weights is None and self.without_loops() is self
        return CSR.from_scipy(self.to_scipy() + identity, weighted=not plain)

    def without_some(self, share: float, seed: int) -> "CSR":
        """Without a random ``share`` of the edges; (i, j) and (j, i) go or stay together."""
        from sign.graph.query_kernels import mark_drawn

        if share == 0:
            return self
        chosen = arrays.empty(self.entries, np.bool_)
        limit = np.uint64(share * 2.0**64)
        for bounds in blocks_by_window(self.indptr, self.indices, chosen):
            mark_drawn(self.indptr, self.indices, bounds, np.uint64(seed), limit, chosen)
        return self.keep(chosen)

    def induced(self, nodes: Array) -> "CSR":
        """Rows and columns of ``nodes``, in that order."""
        from sign.graph.build_kernels import count_induced, fill_induced, sort_rows

        place = np.full(self.nodes, -1, self.indices.dtype)
        place[nodes] = np.arange(len(nodes), dtype=place.dtype)
        lengths = np.empty(len(nodes), np.int64)
        mine = (self.indptr, self.indices)
        for _, bounds in self.blocks_of(nodes):
            count_induced(*mine, nodes, place, bounds, lengths)
        indptr = pointers(lengths)
        indices = arrays.empty(int(indptr[-1]), self.indices.dtype)
        values = None if self.weights is None else arrays.empty(len(indices), np.float32)
        for _, bounds in self.blocks_of(nodes):
            fill_induced(*mine, self.weights, nodes, place, bounds, indptr, indices, values)
            sort_rows(indptr, indices, values, bounds, lengths)
            arrays.release(indices, values)
        return CSR(indptr, indices, values)

    def blocks_of(self, rows: Array | None) -> Iterator[tuple[Array | None, Array]]:
        """Windows of a list of rows, or of all, with the boundaries of blocks of equal work in each."""
        if rows is None:
            yield from ((None, blocks) for blocks in self.blocks)
            return
        starts, ends = self.indptr[rows], self.indptr[rows + 1]
        work = pointers(ends - starts)
        # Rows of the list lie among others, and a page of a map holds many: windows go by what lies between.
        span = np.maximum.accumulate(np.append(starts, ends[-1:]))
        for first, last in windows(span, *self.arrays):
            yield rows, row_blocks(work, thread_blocks(), first, last)

    def with_rows(self, rows: Array) -> "CSR":
        """The matrix whose other rows are empty."""
        lengths, entries = np.zeros(self.nodes, np.int64), np.diff(self.indptr)[rows]
        lengths[rows] = entries
        indptr = pointers(lengths)
        places = np.repeat(self.indptr[rows] - indptr[rows], entries) + np.arange(indptr[-1])
        weights = None if self.weights is None else self.weights[places]
        return CSR(indptr, self.indices[places], weights)

    def reached(self, rows: Array) -> Array:
        """Columns that have an entry in one of ``rows``, as a mask."""
        from sign.graph.query_kernels import mark_columns

        marked = np.zeros(self.nodes, np.bool_)
        for _, bounds in self.blocks_of(rows):
            mark_columns(self.indptr, self.indices, rows[bounds[0] : bounds[-1]], marked)
        return marked

    def _spans(self) -> Iterator[tuple[Array, slice]]:
        """Windows of rows as matrices of their own: where their rows start, and their entries."""
        for first, last in windows(self.indptr, *self.arrays):
            part = slice(int(self.indptr[first]), int(self.indptr[last]))
            yield self.indptr[first : last + 1] - self.indptr[first], part
