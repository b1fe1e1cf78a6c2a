"""Induced subgraphs are those of scipy."""

import numpy as np
import pytest
from common.sampling import random_matrix

from sign.baselines.samplers.scratch import Scratch
from sign.baselines.samplers.subgraph import entry_weights, induce
from sign.graph.csr import CSR

MATRIX = random_matrix(50, 300)


@pytest.mark.parametrize("size", [0, 1, 7, 50])
def test_a_subgraph_has_the_rows_and_columns_of_its_nodes(size: int) -> None:
    nodes = np.sort(np.random.default_rng(size).permutation(50)[:size])
    scratch = Scratch(50)
    indptr, columns, entries = induce(MATRIX, nodes, scratch)
    expected = MATRIX.to_scipy()[nodes][:, nodes]
    expected.sort_indices()
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_array_equal(entry_weights(MATRIX, entries), expected.data)
    assert (scratch.arrays().numbers == -1).all()
    assert not scratch.arrays().bits.any()


def test_entries_without_weights_are_ones() -> None:
    assert entry_weights(CSR(MATRIX.indptr, MATRIX.indices), np.arange(3)).tolist() == [1, 1, 1]
