"""One test-suite for every engine: the product equals the dense product."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

from sign.datasets.communities import Communities
from sign.engines.engine import Engine
from sign.engines.local import LocalEngine
from sign.graph import Graph
from sign.sparse import CSR, Matrix, row_blocks

ENGINES = [LocalEngine(), LocalEngine(threads=1)]
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


@every_engine
def test_strided_and_half_precision_input(engine: Engine) -> None:
    graph = Communities(nodes=200, edges=800).load()
    x = graph.features[:, ::2]
    expected = engine.product(Matrix(graph.adjacency), np.ascontiguousarray(x))
    assert (engine.product(Matrix(graph.adjacency), x) == expected).all()


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
