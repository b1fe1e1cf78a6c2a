"""Kernels that read CSR arrays equal dense numpy, whatever the blocks of rows."""

import numpy as np
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sign.graph import query_kernels as kernels

NODES = 8
entries = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=30)
cuts = st.lists(st.integers(0, NODES), max_size=4).map(lambda cuts: np.array([0, *sorted(cuts), NODES]))


def parts(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays of the pairs, and the dense pattern."""
    dense = np.zeros((NODES, NODES), np.bool_)
    for i, j in pairs:
        dense[i, j] = True
    csr = scipy.sparse.csr_array(dense)
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32), dense


@given(pairs=entries, bounds=cuts)
def test_a_pattern_is_symmetric_exactly_if_its_asymmetry_is_zero(
    pairs: list[tuple[int, int]], bounds: np.ndarray
) -> None:
    indptr, indices, dense = parts(pairs)
    assert (kernels.asymmetry(indptr, indices, bounds) == 0) == (dense == dense.T).all()
    indptr, indices, dense = parts([*pairs, *((j, i) for i, j in pairs)])
    assert kernels.asymmetry(indptr, indices, bounds) == 0
    values = np.random.default_rng(0).random((NODES, NODES))
    for weights in (values, values + values.T):
        same = kernels.has_symmetric_weights(indptr, indices, weights[dense].astype(np.float32), bounds)
        assert same == np.allclose(np.where(dense, weights, 0), np.where(dense, weights, 0).T, rtol=1e-5)


@given(pairs=entries, bounds=cuts)
def test_sums_and_masks(pairs: list[tuple[int, int]], bounds: np.ndarray) -> None:
    indptr, indices, dense = parts(pairs)
    values = np.random.default_rng(0).random(len(indices)).astype(np.float32)
    sums = np.empty(NODES)
    kernels.sum_rows(indptr, values, bounds, sums)
    weighted = np.zeros((NODES, NODES))
    weighted[dense] = values
    np.testing.assert_allclose(sums, weighted.sum(axis=1), rtol=1e-12)
    mask = np.empty(len(indices), np.bool_)
    kernels.mark_off_diagonal(indptr, indices, bounds, mask)
    assert (mask == (np.nonzero(dense)[0] != indices)).all()
    columns, rows = np.zeros(NODES, np.bool_), np.array([1, 4])
    kernels.mark_columns(indptr, indices, rows, columns)
    assert (columns == dense[rows].any(axis=0)).all()
    assert kernels.count_misplaced(indptr, indices, bounds) == 0


def test_misplaced_entries_are_counted() -> None:
    indptr, bounds = np.array([0, 3, 5, 5]), np.array([0, 1, 3])
    for indices, count in (([0, 1, 2, 0, 1], 0), ([0, 0, 2, 1, 0], 2), ([-1, 1, 3, 0, 1], 2)):
        assert kernels.count_misplaced(indptr, np.array(indices, np.int32), bounds) == count


@given(pairs=entries, bounds=cuts, seed=st.integers(0, 2**32 - 1))
def test_an_edge_is_sampled_with_its_reverse(pairs: list[tuple[int, int]], bounds: np.ndarray, seed: int) -> None:
    indptr, indices, dense = parts([*pairs, *((j, i) for i, j in pairs)])
    mask = np.empty(len(indices), np.bool_)
    threshold = np.uint64(0.5 * 2.0**64)
    kernels.mark_sampled(indptr, indices, bounds, np.uint64(seed), threshold, mask)
    sampled = np.zeros((NODES, NODES), np.bool_)
    sampled[dense] = mask
    assert (sampled == sampled.T).all()


def test_hashes_are_those_of_splitmix64() -> None:
    # The first outputs of the reference generator with state 0: hash of 0, and of its increment.
    increment = np.uint64(0x9E3779B97F4A7C15)
    assert kernels.splitmix64(np.uint64(0)) == 0xE220A8397B1DCDAF
    assert kernels.splitmix64(increment) == 0x6E789E6AA1B965F4
