"""Data of edges beside their weights: features of each entry of the adjacency, and times of each listed edge."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sign.errors import SignError
from sign.graph.csr import CSR, Array, Combine, Floats, check_edges, index_type
from sign.graph.partition import BLOCKS_PER_THREAD, blocks_by_window, is_indptr, row_pointers, thread_bounds
from sign.system import arrays
from sign.system.hashing import digest


class ConflictingFeatures(SignError):
    """Different features of one edge, where they must be equal."""

    def __init__(self, source: int, target: int) -> None:
        super().__init__(f"the edge between the nodes {source} and {target} is listed with different features")
        self.source, self.target = source, target


@dataclass(frozen=True, eq=False)
class TimedEdges:
    """Every listed edge with its time: the row of a node has the edges from it, sorted by time, then by target.

    An edge that is listed with several times is there several times; equal listings count once. In an undirected graph
    a listing is in the rows of both ends.

    Parameters
    ----------
    indptr, targets
        Where each row begins, and its targets.
    times
        The time of each edge.
    """

    indptr: NDArray[np.int64]
    targets: Array
    times: NDArray[np.float64]

    @classmethod
    def from_edges(cls, source: Array, target: Array, times: Array, nodes: int, both: bool) -> "TimedEdges":
        """Sort listed edges, in memory or in mapped files; with ``both``, they are edges in both directions."""
        from sign.graph.build_kernels import close_gaps
        from sign.graph.edge_kernels import sort_times

        indptr, targets, own = _place(source, target, times, nodes, both)
        lengths = np.zeros(nodes, np.int64)
        for bounds in blocks_by_window(indptr, targets, own):
            sort_times(indptr, targets, own, bounds, lengths)
        size = int(lengths.sum())
        if size < len(targets):
            close_gaps(indptr, lengths, targets)
            close_gaps(indptr, lengths, own)
            indptr, targets, own = row_pointers(lengths), targets[:size], own[:size]
        return cls(indptr, targets, own)

    @property
    def nodes(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def self_loops(self) -> int:
        """Number of timed edges from a node to itself."""
        return int(np.count_nonzero(self.targets == np.repeat(np.arange(self.nodes), np.diff(self.indptr))))

    @cached_property
    def digest(self) -> str:
        """Content hash."""
        return digest(self.indptr, self.targets, self.times)

    def is_valid(self) -> bool:
        """Whether rows are sorted, targets are nodes and times are finite."""
        from sign.graph.edge_kernels import count_out_of_order

        blocks = blocks_by_window(self.indptr, self.targets, self.times)
        return is_indptr(self.indptr, len(self.targets)) and not any(
            count_out_of_order(self.indptr, self.targets, self.times, bounds) for bounds in blocks
        )

    def induced(self, nodes: Array) -> "TimedEdges":
        """Return the edges between ``nodes``, which are sorted, numbered in that order."""
        from sign.graph.build_kernels import count_induced, fill_induced

        number = np.full(self.nodes, -1, self.targets.dtype)
        number[nodes] = np.arange(len(nodes), dtype=number.dtype)
        lengths = np.empty(len(nodes), np.int64)
        csr = CSR(self.indptr, self.targets)
        for bounds in csr.blocks(nodes):
            count_induced(self.indptr, self.targets, nodes, number, bounds, lengths)
        indptr = row_pointers(lengths)
        targets, times = arrays.empty(int(indptr[-1]), number.dtype), arrays.empty(int(indptr[-1]), np.float64)
        for bounds in csr.blocks(nodes):
            fill_induced(self.indptr, self.targets, self.times, nodes, number, bounds, indptr, targets, times)
            arrays.release(targets, times)
        return TimedEdges(indptr, targets, times)


def features_by_entry(
    source: Array, target: Array, features: Floats, adjacency: CSR, directed: bool, combine: Combine
) -> Floats:
    """Return the features of listed edges as one row per entry of the adjacency that was built from them.

    Several listings of an edge are combined as their weights are, column by column: first those in the same direction;
    then, unless the graph is ``directed``, those of the two directions, except where these are equal. With
    ``combine="error"`` all must be equal, or :class:`ConflictingFeatures` is raised.
    """
    from sign.graph.build_kernels import RULES
    from sign.graph.edge_kernels import fill_features, sort_listings

    listings: Array = np.arange(len(source))
    indptr, columns, listings = _place(source, target, listings, adjacency.nodes, both=False)
    for bounds in blocks_by_window(indptr, columns, listings):
        sort_listings(indptr, columns, listings, bounds)
    result: Floats = arrays.empty((adjacency.entries, features.shape[1]), np.float32)
    ours, listed = (adjacency.indptr, adjacency.indices), (indptr, columns)
    for bounds in blocks_by_window(adjacency.indptr, adjacency.indices, result):
        fill_features(ours, listed, listings, features, not directed, RULES[combine], bounds, result)
    for part in arrays.chunks(result):
        conflicts = np.flatnonzero(np.isnan(result[part]).any(axis=1))
        if len(conflicts):
            entry = part.start + int(conflicts[0])
            row = int(np.searchsorted(adjacency.indptr, entry, "right")) - 1
            raise ConflictingFeatures(row, int(adjacency.indices[entry]))
    return result


def induced_features(features: Floats, adjacency: CSR, nodes: Array) -> Floats:
    """Return the features of the entries between ``nodes``, which are sorted."""
    from sign.graph.edge_kernels import mark_inside

    chosen = np.zeros(adjacency.nodes, np.bool_)
    chosen[nodes] = True
    mask = arrays.empty(adjacency.entries, np.bool_)
    for bounds in adjacency.blocks():
        mark_inside(adjacency.indptr, adjacency.indices, chosen, bounds, mask)
    return arrays.copy_rows(features, np.flatnonzero(mask))


def are_symmetric(features: Floats, adjacency: CSR) -> bool:
    """Return whether both entries of each edge of an undirected graph have the same features."""
    from sign.graph.edge_kernels import has_symmetric_features

    indptr, indices = adjacency.indptr, adjacency.indices
    return all(has_symmetric_features(indptr, indices, features, bounds) for bounds in adjacency.blocks())


def _place(source: Array, target: Array, values: Array, nodes: int, both: bool) -> tuple[Array, Array, Array]:
    """Return rows of targets and values, in the order in which edges are listed."""
    from sign.graph.build_kernels import place_edges

    check_edges(source, target, nodes)
    lengths = np.zeros(nodes, np.int64)
    for part in arrays.chunks(source):
        place_edges(source[part], target[part], None, both, thread_bounds(nodes), lengths, None, None)
        arrays.release(target[part])
    indptr = row_pointers(lengths)
    columns, placed = arrays.empty(int(indptr[-1]), index_type(nodes)), arrays.empty(int(indptr[-1]), values.dtype)
    cursors = indptr[:-1].copy()
    for blocks in blocks_by_window(indptr, columns, placed):
        bounds = blocks[::BLOCKS_PER_THREAD]
        for part in arrays.chunks(source):
            place_edges(source[part], target[part], values[part], both, bounds, cursors, columns, placed)
            arrays.release(target[part], values[part])
    return indptr, columns, placed
