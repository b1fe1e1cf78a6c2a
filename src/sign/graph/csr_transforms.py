"""CSR matrices derived from another one: symmetrised, with or without self-loops, fewer edges, rows or nodes."""

import numpy as np
from numpy.typing import NDArray

from sign.graph.csr import CSR, Array, Combine, empty_entries
from sign.graph.partition import blocks_by_window, entries_of, row_pointers
from sign.system import arrays


def symmetrize(csr: CSR) -> CSR:
    r"""Return :math:`½(W + W^⊤)`."""
    from sign.graph.build_kernels import fill_mean

    other = csr.transposed
    ours, theirs = (csr.indptr, csr.indices), (other.indptr, other.indices)
    indptr = _union_pointers(csr, other)
    indices, values = empty_entries(indptr, csr.indices.dtype, weighted=True)
    inputs = (csr.indices, csr.weights, other.indices, other.weights)
    for bounds in blocks_by_window(indptr, indices, values, *inputs):
        fill_mean(ours, csr.weights, theirs, other.weights, bounds, indptr, indices, values)
    return CSR(indptr, indices, values)


def merge_directions(csr: CSR, combine: Combine) -> CSR:
    """Return the symmetric matrix of an undirected graph whose edges are listed in one direction or in both.

    Where both directions have a weight and they are equal, that is the weight of the edge; otherwise they are
    combined, or :class:`ConflictingWeights` is raised.
    """
    from sign.graph.build_kernels import RULES, fill_pairs

    if csr.is_symmetric():
        return csr
    other = csr.transposed
    ours, theirs = (csr.indptr, csr.indices), (other.indptr, other.indices)
    indptr = _union_pointers(csr, other)
    indices, values = empty_entries(indptr, csr.indices.dtype, weighted=True)
    inputs = (csr.indices, csr.weights, other.indices, other.weights)
    for bounds in blocks_by_window(indptr, indices, values, *inputs):
        fill_pairs(ours, csr.weights, theirs, other.weights, RULES[combine], bounds, (indptr, indices), values)
    merged = CSR(indptr, indices, values, csr.listed_edges)
    merged.check_conflicts()
    return merged


def _union_pointers(csr: CSR, other: CSR) -> NDArray[np.int64]:
    """Return ``indptr`` of the entries that either matrix has."""
    from sign.graph.build_kernels import count_union

    lengths = np.empty(csr.nodes, np.int64)
    for bounds in blocks_by_window(csr.indptr, csr.indices, other.indices):
        count_union(csr.indptr, csr.indices, other.indptr, other.indices, bounds, lengths)
    return row_pointers(lengths)


def select_entries(csr: CSR, mask: NDArray[np.bool_]) -> CSR:
    """Keep the entries where ``mask`` is true; ``csr`` itself is returned if that is all of them."""
    from sign.graph.build_kernels import copy_selected
    from sign.graph.query_kernels import sum_rows

    lengths = np.empty(csr.nodes, np.int64)
    for bounds in blocks_by_window(csr.indptr, mask):
        sum_rows(csr.indptr, mask, bounds, lengths)
    indptr = row_pointers(lengths)
    if indptr[-1] == csr.entries:
        return csr
    indices, weights = empty_entries(indptr, csr.indices.dtype, csr.weights is not None)
    for array, selected in ((csr.indices, indices), (csr.weights, weights)):
        if array is not None and selected is not None:
            for bounds in blocks_by_window(csr.indptr, array, mask, selected):
                copy_selected(csr.indptr, array, mask, bounds, indptr, selected)
    return CSR(indptr, indices, weights)


def remove_self_loops(csr: CSR) -> CSR:
    """Remove the diagonal."""
    from sign.graph.query_kernels import mark_off_diagonal

    mask = arrays.empty(csr.entries, np.bool_)
    for bounds in blocks_by_window(csr.indptr, csr.indices, mask):
        mark_off_diagonal(csr.indptr, csr.indices, bounds, mask)
    return select_entries(csr, mask)


def add_self_loops(csr: CSR) -> CSR:
    """Add one to the diagonal."""
    import scipy.sparse

    identity = scipy.sparse.eye_array(csr.nodes, dtype=np.float32, format="csr")
    unweighted = csr.weights is None and remove_self_loops(csr) is csr
    return CSR.from_scipy(csr.to_scipy() + identity, weighted=not unweighted)


def drop_edges(csr: CSR, fraction: float, seed: int) -> CSR:
    """Remove a random fraction of the edges; (i, j) and (j, i) are removed together."""
    from sign.graph.query_kernels import mark_sampled

    if fraction == 0:
        return csr
    mask = arrays.empty(csr.entries, np.bool_)
    threshold = np.uint64(fraction * 2.0**64)
    for bounds in blocks_by_window(csr.indptr, csr.indices, mask):
        mark_sampled(csr.indptr, csr.indices, bounds, np.uint64(seed), threshold, mask)
    return select_entries(csr, mask)


def induced_subgraph(csr: CSR, nodes: Array) -> CSR:
    """Return the rows and columns of ``nodes``, numbered in that order."""
    from sign.graph.build_kernels import SUM, count_induced, fill_induced, sort_rows

    number = np.full(csr.nodes, -1, csr.indices.dtype)
    number[nodes] = np.arange(len(nodes), dtype=number.dtype)
    lengths = np.empty(len(nodes), np.int64)
    for bounds in csr.blocks(nodes):
        count_induced(csr.indptr, csr.indices, nodes, number, bounds, lengths)
    indptr = row_pointers(lengths)
    indices, values = empty_entries(indptr, csr.indices.dtype, csr.weights is not None)
    for bounds in csr.blocks(nodes):
        fill_induced(csr.indptr, csr.indices, csr.weights, nodes, number, bounds, indptr, indices, values)
        sort_rows(indptr, indices, values, bounds, lengths, SUM)
        arrays.release(indices, values)
    return CSR(indptr, indices, values)


def clear_other_rows(csr: CSR, rows: Array) -> CSR:
    """Keep the entries of ``rows``, which are sorted; all other rows become empty."""
    selected, positions = entries_of(csr.indptr, rows)
    lengths = np.zeros(csr.nodes, np.int64)
    lengths[rows] = np.diff(selected)
    weights = None if csr.weights is None else csr.weights[positions]
    return CSR(row_pointers(lengths), csr.indices[positions], weights)
