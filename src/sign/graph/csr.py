"""Compressed sparse rows as plain arrays, which may be memory-mapped."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.errors import SignError
from sign.graph.partition import (
    BLOCKS_PER_THREAD,
    blocks_by_window,
    is_indptr,
    row_blocks,
    row_pointers,
    thread_blocks,
    thread_bounds,
    windows,
)
from sign.system import arrays
from sign.system.hashing import digest

if TYPE_CHECKING:
    import scipy.sparse

Array: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float32]
Combine: TypeAlias = Literal["error", "mean", "max", "sum"]  # different weights of one edge
WEIGHTS = (1e-12, 1e12)  # the range of edge weights: their products and inverses stay within float32
WEIGHT_RULE = f"weights must be positive and finite, from {WEIGHTS[0]:g} to {WEIGHTS[1]:g}"


def index_type(largest: int) -> type[np.int32] | type[np.int64]:
    """int32 if it can represent ``largest``, else int64."""
    return np.int32 if largest < 2**31 else np.int64


class ConflictingWeights(SignError):
    """Different weights of one edge, where they must be equal."""

    def __init__(self, source: int, target: int) -> None:
        super().__init__(f"the edge between the nodes {source} and {target} is listed with different weights")
        self.source, self.target = source, target


@dataclass(frozen=True, eq=False)
class CSR:
    """A square sparse matrix in CSR format.

    Columns are sorted and unique within a row, so equal matrices have equal arrays and digests. The arrays may be
    memory-mapped: they are read in windows of rows.

    Parameters
    ----------
    indptr, indices
        Where each row begins, and its columns.
    weights
        The values; None if all entries are one.
    listed_edges
        The number of edges that :meth:`from_edges` received, before duplicates were merged.
    """

    indptr: NDArray[np.int64]
    indices: Array
    weights: Floats | None = None
    listed_edges: int | None = None

    @property
    def nodes(self) -> int:
        """Number of rows, and of columns."""
        return len(self.indptr) - 1

    @property
    def entries(self) -> int:
        """Number of stored entries."""
        return len(self.indices)

    @cached_property
    def self_loops(self) -> int:
        """Number of entries on the diagonal."""
        from sign.graph.query_kernels import count_diagonal

        return sum(int(count_diagonal(self.indptr, self.indices, bounds)) for bounds in self.blocks())

    @cached_property
    def digest(self) -> str:
        """Content hash of the matrix."""
        return digest(self.indptr, self.indices, self.weights)

    @classmethod
    def from_edges(
        cls,
        source: Array,
        target: Array,
        nodes: int,
        weights: Array | None = None,
        both: bool = False,
        combine: Combine = "sum",
    ) -> "CSR":
        """Build the matrix with an entry (source, target) per edge.

        Parameters
        ----------
        source, target
            The ends of the edges.
        nodes
            Number of rows, and of columns.
        weights
            One positive number per edge; None if all are one.
        both
            Whether each edge has an entry (target, source), too.
        combine
            What becomes of the weights of duplicate edges, which are merged.

        Returns
        -------
        CSR
            The matrix.

        Raises
        ------
        ConflictingWeights
            If duplicate edges have different weights and ``combine`` is ``"error"``.
        SignError
            If an end is no node, or a weight is not positive and finite.
        """
        from sign.graph.build_kernels import RULES, close_gaps, place_edges, sort_rows

        source, target = np.asanyarray(source), np.asanyarray(target)
        check_edges(source, target, nodes)
        if weights is not None:
            check_weights(weights, len(source))
        lengths = np.zeros(nodes, np.int64)
        for part in arrays.chunks(source):
            place_edges(source[part], target[part], None, both, thread_bounds(nodes), lengths, None, None)
            arrays.release(target[part])
        indptr = row_pointers(lengths)
        indices, values = empty_entries(indptr, index_type(nodes), weights is not None)
        cursors = indptr[:-1].copy()
        for blocks in blocks_by_window(indptr, indices, values):
            bounds = blocks[::BLOCKS_PER_THREAD]
            for part in arrays.chunks(source):
                chunk = None if weights is None else weights[part]
                place_edges(source[part], target[part], chunk, both, bounds, cursors, indices, values)
                arrays.release(target[part], chunk)
            sort_rows(indptr, indices, values, blocks, lengths, RULES[combine])
        size = int(lengths.sum())
        if size < len(indices):  # duplicates were merged
            close_gaps(indptr, lengths, indices)
            if values is not None:
                close_gaps(indptr, lengths, values)
                values = values[:size]
            indptr, indices = row_pointers(lengths), indices[:size]
        csr = cls(indptr, indices, values, len(source))
        if combine == "error":
            csr.check_conflicts()
        return csr

    @classmethod
    def from_scipy(cls, matrix: "scipy.sparse.csr_array", weighted: bool = True) -> "CSR":
        """Convert a square matrix of scipy; ``weighted=False`` keeps the pattern and ignores the values."""
        if matrix.shape[0] != matrix.shape[1]:
            raise SignError(f"a matrix of shape {matrix.shape}: an adjacency must be square")
        matrix.sum_duplicates()
        matrix.sort_indices()
        indices = matrix.indices.astype(index_type(matrix.shape[0]))
        weights = matrix.data.astype(np.float32) if weighted else None
        return cls(matrix.indptr.astype(np.int64), indices, weights)

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Convert to scipy, with explicit values."""
        import scipy.sparse

        data = np.ones(self.entries, np.float32) if self.weights is None else self.weights
        return scipy.sparse.csr_array((data, self.indices, self.indptr), (self.nodes, self.nodes))

    def blocks(self, rows: Array | None = None) -> Iterator[Array]:
        """Boundaries of blocks of a list of rows, or of all, for threads; one window of mapped rows at a time."""
        if rows is None:
            yield from blocks_by_window(self.indptr, self.indices, self.weights)
            return
        starts, ends = self.indptr[rows], self.indptr[rows + 1]
        work = row_pointers(ends - starts)
        # Selected rows are scattered among others, and a page of a map holds many: windows count all rows between.
        span = np.maximum.accumulate(np.append(starts, ends[-1:]))
        for first, last in windows(span, self.indices, self.weights):
            yield row_blocks(work, thread_blocks(), first, last)

    @cached_property
    def row_sums(self) -> NDArray[np.float64]:
        """Weighted degree of every row, summed in double precision."""
        if self.weights is None:
            return np.diff(self.indptr).astype(np.float64)
        from sign.graph.query_kernels import sum_rows

        sums = np.empty(self.nodes)
        for bounds in self.blocks():
            sum_rows(self.indptr, self.weights, bounds, sums)
        return sums

    @cached_property
    def transposed(self) -> "CSR":
        """The transpose."""
        from sign.graph.build_kernels import place_columns

        lengths = np.zeros(self.nodes, np.int64)
        for rows, part, _ in self._row_windows():
            place_columns(rows, self.indices[part], None, thread_bounds(self.nodes), lengths, None, None, 0)
        indptr = row_pointers(lengths)
        indices, values = empty_entries(indptr, self.indices.dtype, self.weights is not None)
        cursors = indptr[:-1].copy()
        for blocks in blocks_by_window(indptr, indices, values):
            bounds = blocks[::BLOCKS_PER_THREAD]
            for rows, part, first in self._row_windows():
                chunk = None if self.weights is None else self.weights[part]
                place_columns(rows, self.indices[part], chunk, bounds, cursors, indices, values, first)
        return CSR(indptr, indices, values)

    def _row_windows(self) -> Iterator[tuple[Array, slice, int]]:
        """``indptr`` of each window of rows, counted from its start, its entries, and its first row."""
        for first, last in windows(self.indptr, self.indices, self.weights):
            part = slice(int(self.indptr[first]), int(self.indptr[last]))
            yield self.indptr[first : last + 1] - self.indptr[first], part, first

    def check_conflicts(self) -> None:
        """Raise :class:`ConflictingWeights` for a weight of NaN, which marks different weights of one edge."""
        if self.weights is None:
            return
        for part in arrays.chunks(self.weights):
            conflicts = np.flatnonzero(np.isnan(self.weights[part]))
            if len(conflicts):
                entry = part.start + int(conflicts[0])
                row = int(np.searchsorted(self.indptr, entry, "right")) - 1
                raise ConflictingWeights(row, int(self.indices[entry]))

    def is_canonical(self) -> bool:
        """Whether ``indptr`` divides the entries into rows whose columns are nodes, sorted and unique."""
        from sign.graph.query_kernels import count_misplaced

        return is_indptr(self.indptr, self.entries) and not any(
            count_misplaced(self.indptr, self.indices, bounds) for bounds in self.blocks()
        )

    def is_symmetric(self) -> bool:
        """Whether the matrix is its own transpose, up to rounding of weights."""
        from sign.graph.query_kernels import asymmetry, has_symmetric_weights

        difference = sum(int(asymmetry(self.indptr, self.indices, bounds)) for bounds in self.blocks())
        if difference % 2**64:
            return False
        return self.weights is None or all(
            has_symmetric_weights(self.indptr, self.indices, self.weights, bounds) for bounds in self.blocks()
        )

    def row_indices(self) -> Array:
        """Return the row of every entry."""
        return np.repeat(np.arange(self.nodes, dtype=self.indices.dtype), np.diff(self.indptr))

    def column_mask(self, rows: Array) -> NDArray[np.bool_]:
        """Return which columns have an entry in one of ``rows``."""
        from sign.graph.query_kernels import mark_columns

        mask = np.zeros(self.nodes, np.bool_)
        for bounds in self.blocks(rows):
            mark_columns(self.indptr, self.indices, rows[bounds[0] : bounds[-1]], mask)
        return mask


def empty_entries(indptr: Array, dtype: Any, weighted: bool) -> tuple[Array, Floats | None]:
    """Uninitialised column indices and, if ``weighted``, weights of the entries of ``indptr``."""
    size = int(indptr[-1])
    return arrays.empty(size, dtype), arrays.empty(size, np.float32) if weighted else None


def check_edges(source: Array, target: Array, nodes: int) -> None:
    """Raise :class:`SignError` unless the edges connect nodes 0 to ``nodes - 1``."""
    if len(source) != len(target):
        raise SignError(f"{len(source)} edge sources but {len(target)} edge targets")
    for ends in (source, target):
        if ends.dtype.kind not in "iu" and ends.size:
            raise SignError(f"edges of type {ends.dtype}: nodes must be integers")
        for part in arrays.chunks(ends):
            low, high = int(ends[part].min()), int(ends[part].max())
            if low < 0 or high >= nodes:
                node = low if low < 0 else high
                raise SignError(f"an edge refers to node {node}, but nodes are numbered 0 to {nodes - 1}")


def check_weights(weights: Array, edges: int) -> None:
    """Raise :class:`SignError` unless there is one positive weight per edge whose products fit in float32."""
    if weights.shape != (edges,):
        raise SignError(f"weights of shape {weights.shape} for {edges} edges")
    if (edge := first_invalid(weights)) is not None:
        raise SignError(f"an edge has weight {weights[edge]}; {WEIGHT_RULE}")


def first_invalid(weights: Array) -> int | None:
    """Return the first edge whose weight is not a positive number within the range of weights."""
    for part in arrays.chunks(weights):
        invalid = ~((weights[part] >= WEIGHTS[0]) & (weights[part] <= WEIGHTS[1]))
        if invalid.any():
            return int(part.start + invalid.argmax())
    return None
