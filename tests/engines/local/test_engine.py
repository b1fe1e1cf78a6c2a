"""The local engine: neither threads nor panels of columns change a bit, and outputs are checked."""

import numpy as np
import pytest

from sign.datasets.synthetic.communities import Communities
from sign.engines.local.engine import LocalEngine
from sign.engines.local.kernels import multiplier
from sign.errors import SignError
from sign.graph.csr import CSR
from sign.graph.matrix import Matrix


@pytest.mark.slow
@pytest.mark.parametrize("rows", [None, np.arange(0, 200, 3)], ids=["all rows", "some rows"])
def test_the_number_of_columns_changes_no_bit(rows: np.ndarray | None) -> None:
    """Columns are summed in panels of fixed widths, and the last panel may overlap the one before."""
    csr = Communities(nodes=200, edges=1500).load().adjacency
    rng = np.random.default_rng(0)
    scale = rng.random(200, dtype=np.float32)
    weighted = CSR(csr.indptr, csr.indices, rng.random(csr.entries, dtype=np.float32))
    x = rng.standard_normal((200, 150), dtype=np.float32)
    kept = slice(None) if rows is None else rows
    for matrix in (Matrix(csr, scale, scale, 1.0), Matrix(weighted)):
        expected = matrix.to_scipy().toarray().astype(np.float64)[kept] @ x
        single = np.hstack([LocalEngine().product(matrix, x[:, [c]], rows)[kept] for c in range(150)])
        np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-4)
        for columns in (2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 100, 127, 128, 150):
            assert (LocalEngine().product(matrix, x[:, :columns], rows)[kept] == single[:, :columns]).all()


def test_the_number_of_threads_changes_no_bit() -> None:
    graph = Communities(nodes=2000, edges=20000).load()
    matrix = Matrix(graph.adjacency, right=np.linspace(0, 1, 2000, dtype=np.float32), self_loop=1.0)
    one, two = (LocalEngine(threads=n).product(matrix, graph.features) for n in (1, 2))
    assert (one == two).all()


def test_a_product_of_no_columns() -> None:
    graph = Communities(nodes=50, edges=100).load()
    assert LocalEngine().product(Matrix(graph.adjacency), graph.features[:, :0]).shape == (50, 0)


@pytest.mark.parametrize(
    "out",
    [np.empty((50, 4), np.float64), np.empty((50, 8), np.float32)[:, ::2], np.empty((50, 3), np.float32)],
    ids=["double", "strided", "narrow"],
)
def test_an_output_array_that_does_not_fit_is_refused(out: np.ndarray) -> None:
    graph = Communities(nodes=50, edges=100, features=4).load()
    with pytest.raises(SignError, match="needs a C-contiguous array of float32 with 4 columns"):
        LocalEngine().product(Matrix(graph.adjacency), graph.features, out=out)


def test_arrays_in_memory_and_read_only_ones_share_a_compiled_loop() -> None:
    csr = Communities(nodes=50, edges=100).load().adjacency
    fixed = CSR(csr.indptr.copy(), csr.indices.copy())
    for array in (fixed.indptr, fixed.indices):
        array.flags.writeable = False
    x, loop = np.ones((50, 7), np.float32), multiplier(7)
    expected, compiled = LocalEngine().product(Matrix(csr), x), len(loop.signatures)
    x.flags.writeable = False
    assert (LocalEngine().product(Matrix(fixed), x, out=np.empty_like(expected)) == expected).all()
    assert len(loop.signatures) == compiled


def test_rows_and_factors_that_are_left_out_do_not_compile_another_loop() -> None:
    csr = Communities(nodes=50, edges=100).load().adjacency
    x, loop, ones = np.ones((50, 7), np.float32), multiplier(7), np.ones(50, np.float32)
    expected, compiled = LocalEngine().product(Matrix(csr), x), len(loop.signatures)
    assert (LocalEngine().product(Matrix(csr, left=ones), x) == expected).all()
    rows = np.array([3, 20])
    assert (LocalEngine().product(Matrix(csr), x, rows)[rows] == expected[rows]).all()
    assert len(loop.signatures) == compiled
