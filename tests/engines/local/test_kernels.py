"""The compiled product, called directly."""

import numpy as np
import pytest

from sign.engines.local.engine import ALL_ROWS, NO_FACTORS
from sign.engines.local.kernels import multiplier
from sign.testing import path


@pytest.mark.parametrize("columns", [1, 3, 5, 20, 70])
def test_the_product_of_a_path_is_the_sum_of_neighbours(columns: int) -> None:
    csr = path(6).adjacency
    x = np.arange(6 * columns, dtype=np.float32).reshape(6, columns)
    out = np.full_like(x, np.nan)
    blocks = np.array([0, 2, 6])
    multiplier(columns)(csr.indptr, csr.indices, None, NO_FACTORS, None, np.float32(0), ALL_ROWS, blocks, x, out)
    expected = np.zeros_like(x)
    expected[:-1] += x[1:]
    expected[1:] += x[:-1]
    assert (out == expected).all()


def test_only_the_listed_rows_are_written() -> None:
    csr, x = path(6).adjacency, np.ones((6, 4), np.float32)
    out, rows = np.full_like(x, -1), np.array([1, 4])
    blocks = np.array([0, 2])
    multiplier(4)(csr.indptr, csr.indices, None, NO_FACTORS, None, np.float32(1), rows, blocks, x, out)
    assert out[:, 0].tolist() == [-1, 3, -1, -1, 3, -1]


def test_wider_rows_use_wider_panels() -> None:
    assert multiplier(64) is multiplier(200)
    assert multiplier(16) is multiplier(63)
    assert multiplier(15) is not multiplier(16)
