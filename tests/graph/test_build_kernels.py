"""Kernels that build CSR arrays equal scipy, whatever the blocks of rows."""

import itertools

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sign.graph import build_kernels as kernels
from sign.graph.partition import row_pointers

NODES = 9
entries = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=40)
cuts = st.lists(st.integers(0, NODES), max_size=4).map(lambda cuts: np.array([0, *sorted(cuts), NODES]))


def matrix(pairs: list[tuple[int, int]]) -> scipy.sparse.csr_array:
    """Distinct pairs with the values 1, 2, …"""
    rows, columns = np.array(sorted(set(pairs)), np.int64).reshape(-1, 2).T
    values = np.arange(1, len(rows) + 1, dtype=np.float32)
    return scipy.sparse.csr_array((values, (rows, columns)), (NODES, NODES))


def parts(csr: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32), csr.data


@given(pairs=entries, bounds=cuts, both=st.booleans())
def test_edges_are_counted_placed_and_merged(pairs: list[tuple[int, int]], bounds: np.ndarray, both: bool) -> None:
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    weights = np.arange(1, len(pairs) + 1, dtype=np.float32)
    lengths = np.zeros(NODES, np.int64)
    kernels.place_edges(source, target, None, both, bounds, lengths, None, None)
    indptr = row_pointers(lengths)
    indices, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    kernels.place_edges(source, target, weights, both, bounds, indptr[:-1].copy(), indices, values)
    kernels.sort_rows(indptr, indices, values, bounds, lengths, kernels.SUM)
    kernels.close_gaps(indptr, lengths, indices)
    kernels.close_gaps(indptr, lengths, values)
    size = lengths.sum()
    built = scipy.sparse.csr_array((values[:size], indices[:size], row_pointers(lengths)), (NODES, NODES))
    expected = scipy.sparse.coo_array((weights, (source, target)), (NODES, NODES)).toarray()
    if both:
        expected = expected + expected.T - np.diag(expected.diagonal())
    assert built.has_canonical_format
    assert (built.toarray() == expected).all()


@given(pairs=entries, bounds=cuts)
def test_columns_become_rows_of_the_transpose(pairs: list[tuple[int, int]], bounds: np.ndarray) -> None:
    indptr, indices, values = parts(matrix(pairs))
    counts = np.zeros(NODES, np.int64)
    kernels.place_columns(indptr, indices, None, bounds, counts, None, None, 0)
    pointers = row_pointers(counts)
    out, out_values = np.empty_like(indices), np.empty_like(values)
    kernels.place_columns(indptr, indices, values, bounds, pointers[:-1].copy(), out, out_values, 0)
    expected = matrix(pairs).T.tocsr()
    assert (pointers == expected.indptr).all()
    assert (out == expected.indices).all()
    assert (out_values == expected.data).all()


@given(pairs=entries, others=entries, bounds=cuts)
def test_the_mean_of_two_matrices(
    pairs: list[tuple[int, int]], others: list[tuple[int, int]], bounds: np.ndarray
) -> None:
    ours, theirs = parts(matrix(pairs)), parts(matrix(others))
    lengths = np.empty(NODES, np.int64)
    kernels.count_union(*ours[:2], *theirs[:2], bounds, lengths)
    indptr = row_pointers(lengths)
    indices, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    kernels.fill_mean(ours[:2], ours[2], theirs[:2], theirs[2], bounds, indptr, indices, values)
    built = scipy.sparse.csr_array((values, indices, indptr), (NODES, NODES))
    assert (built.toarray() == (matrix(pairs) + matrix(others)).toarray() / 2).all()


@given(pairs=entries, nodes=st.permutations(range(NODES)), size=st.integers(0, NODES), data=st.data())
def test_entries_and_nodes_are_selected(
    pairs: list[tuple[int, int]], nodes: list[int], size: int, data: st.DataObject
) -> None:
    csr = matrix(pairs)
    indptr, indices, values = parts(csr)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=csr.nnz, max_size=csr.nnz)), np.bool_)
    bounds = np.array([0, 3, NODES])
    out = row_pointers([mask[a:b].sum() for a, b in itertools.pairwise(indptr)])
    selected = np.empty(mask.sum(), np.float32)
    kernels.copy_selected(indptr, values, mask, bounds, out, selected)
    assert (selected == values[mask]).all()
    chosen = np.array(nodes[:size], np.int64)
    number = np.full(NODES, -1, np.int32)
    number[chosen] = np.arange(size)
    bounds, lengths = np.array([0, size // 2, size]), np.empty(size, np.int64)
    kernels.count_induced(indptr, indices, chosen, number, bounds, lengths)
    out = row_pointers(lengths)
    out_indices, out_values = np.empty(out[-1], np.int32), np.empty(out[-1], np.float32)
    kernels.fill_induced(indptr, indices, values, chosen, number, bounds, out, out_indices, out_values)
    dense = np.zeros((size, size), np.float32)
    dense[np.repeat(np.arange(size), lengths), out_indices] = out_values
    assert (dense == csr.toarray()[np.ix_(chosen, chosen)]).all()
