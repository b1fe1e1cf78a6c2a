"""One test-suite for every engine: the product equals the dense product."""

from pathlib import Path

import numpy as np
import pytest
from common.graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.engines.base import Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.torch import TorchEngine
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.graph.partition import row_blocks
from sign.system import arrays

ENGINES = [LocalEngine(), LocalEngine(threads=1), TorchEngine()]
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=repr)


@every_engine
@given(
    graph=graphs(), factors=st.tuples(st.booleans(), st.booleans()), loop=st.sampled_from([0.0, 1.0, -0.5])
)
def test_product_equals_the_dense_product(
    engine: Engine, graph: Graph, factors: tuple[bool, bool], loop: float
) -> None:
    rng = np.random.default_rng(graph.nodes)
    left, right = (rng.standard_normal(graph.nodes).astype(np.float32) if used else None for used in factors)
    matrix = Matrix(graph.adjacency, left, right, loop)
    dense = matrix.to_scipy().toarray().astype(np.float64)
    np.testing.assert_allclose(engine.product(matrix, graph.features), dense @ graph.features, atol=2e-4)


@every_engine
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_types_give_the_same_bits(engine: Engine, index: type) -> None:
    graph = Communities(nodes=500, edges=2000).load()
    csr = graph.adjacency
    other = CSR(csr.indptr, csr.indices.astype(index), csr.weights)
    expected = engine.product(Matrix(csr), graph.features)
    assert (engine.product(Matrix(other), graph.features) == expected).all()


@pytest.mark.parametrize("rows", [None, np.arange(0, 200, 3)], ids=["all rows", "some rows"])
def test_how_many_columns_go_together_changes_no_bit(rows: np.ndarray | None) -> None:
    """Columns are summed in panels of fixed widths, and the last panel may overlap the one before."""
    csr = Communities(nodes=200, edges=1500).load().adjacency
    rng = np.random.default_rng(0)
    scale = rng.random(200, dtype=np.float32)
    weighted = CSR(csr.indptr, csr.indices, rng.random(csr.entries, dtype=np.float32))
    x = rng.standard_normal((200, 150), dtype=np.float32)
    kept = slice(None) if rows is None else rows
    for matrix in (Matrix(csr, scale, scale, 1.0), Matrix(weighted)):
        expected = matrix.to_scipy().toarray().astype(np.float64)[kept] @ x
        one = np.hstack([LocalEngine().product(matrix, x[:, [c]], rows)[kept] for c in range(150)])
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4)
        for columns in (2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 100, 127, 128, 150):
            assert (LocalEngine().product(matrix, x[:, :columns], rows)[kept] == one[:, :columns]).all()


def test_a_product_of_no_columns() -> None:
    graph = Communities(nodes=50, edges=100).load()
    assert LocalEngine().product(Matrix(graph.adjacency), graph.features[:, :0]).shape == (50, 0)


@pytest.mark.parametrize(
    "out",
    [
        np.empty((50, 4), np.float64),
        np.empty((50, 8), np.float32)[:, ::2],
        np.empty((50, 3), np.float32),
    ],
    ids=["double", "strided", "narrow"],
)
def test_a_product_is_not_written_where_it_does_not_fit(out: np.ndarray) -> None:
    graph = Communities(nodes=50, edges=100, features=4).load()
    with pytest.raises(SignError, match="it needs an array of float32 with 4 columns"):
        LocalEngine().product(Matrix(graph.adjacency), graph.features, out=out)


@every_engine
def test_strided_and_half_precision_input(engine: Engine) -> None:
    graph = Communities(nodes=200, edges=800).load()
    x = graph.features[:, ::2]
    expected = engine.product(Matrix(graph.adjacency), np.ascontiguousarray(x))
    assert (engine.product(Matrix(graph.adjacency), x) == expected).all()


@every_engine
@given(graph=graphs(), chosen=st.integers(0, 2**12 - 1), loop=st.sampled_from([0.0, 1.0]))
def test_some_rows_are_those_of_all_rows_and_read_nothing_else(
    engine: Engine, graph: Graph, chosen: int, loop: float
) -> None:
    rows = np.array([i for i in range(graph.nodes) if chosen >> i & 1], np.int64)
    matrix = Matrix(graph.adjacency, left=np.full(graph.nodes, 2, np.float32), self_loop=loop)
    expected = engine.product(matrix, graph.features)[rows]
    read = graph.adjacency.column_mask(rows)
    read[rows] |= loop != 0
    poisoned = np.where(read[:, None], graph.features, np.float32("nan"))
    found = engine.product(matrix, poisoned, rows)
    assert found.shape == graph.features.shape
    assert (found[rows] == expected).all()


@every_engine
def test_mapped_rows_give_the_same_bits(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1000)
    graph = Communities(nodes=500, edges=4000).load()
    weights = np.random.default_rng(0).random(graph.adjacency.entries).astype(np.float32)
    held = CSR(graph.adjacency.indptr, graph.adjacency.indices, weights)
    for name in ("indices", "weights"):
        np.save(tmp_path / name, getattr(held, name))
    mapped = CSR(
        held.indptr, *(np.load(tmp_path / f"{name}.npy", mmap_mode="r+") for name in ("indices", "weights"))
    )
    for rows in (None, np.arange(0, 500, 3)):
        expected, found = (engine.product(Matrix(csr), graph.features, rows) for csr in (held, mapped))
        kept = slice(None) if rows is None else rows
        assert (expected[kept] == found[kept]).all()


def test_engines_agree(tmp_path: Path) -> None:
    graph = Communities(nodes=2000, edges=20000).load()
    scale = np.linspace(0.1, 1, 2000, dtype=np.float32)
    matrix = Matrix(graph.adjacency, left=scale, right=scale, self_loop=1.0)
    first, *others = (engine.product(matrix, graph.features) for engine in ENGINES)
    for other in others:
        np.testing.assert_allclose(first, other, rtol=1e-4, atol=1e-5)


def test_a_gpu_that_is_not_there_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    graph = Communities(nodes=50, edges=100).load()
    with pytest.raises(SignError, match="torch sees no GPU here"):
        TorchEngine(device="cuda").product(Matrix(graph.adjacency), graph.features)


@pytest.mark.parametrize("size", ["4 apples", "-1GB", "0MB"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    with pytest.raises(FieldError, match="is not a size such as"):
        LocalEngine(memory=size)


def test_the_number_of_threads_changes_no_bit() -> None:
    graph = Communities(nodes=2000, edges=20000).load()
    matrix = Matrix(graph.adjacency, right=np.linspace(0, 1, 2000, dtype=np.float32), self_loop=1.0)
    one, two = (LocalEngine(threads=n).product(matrix, graph.features) for n in (1, 2))
    assert (one == two).all()


def test_row_blocks_cover_all_rows_with_equal_work() -> None:
    indptr = np.r_[0, np.cumsum([1000, 0, 0, 10, 10, 10, 10, 500, 500])]
    blocks = row_blocks(indptr, 4)
    assert (blocks[0], blocks[-1]) == (0, 9)
    assert (np.diff(blocks) >= 0).all()
    assert np.diff(indptr[blocks]).max() <= 1010
