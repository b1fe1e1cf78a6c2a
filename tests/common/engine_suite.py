"""What every engine has to pass: functions of an engine, an empty folder, and the number of random graphs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.graphs import graphs
from sign.datasets.synthetic.communities import Communities
from sign.engines.base import Diffusion, Engine
from sign.graph.csr import CSR
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.system import arrays


def product_equals_the_dense_product(engine: Engine, folder: Path, examples: int) -> None:
    @settings(max_examples=examples)
    @given(graph=graphs(), factors=st.tuples(st.booleans(), st.booleans()), loop=st.sampled_from([0.0, 1.0, -0.5]))
    def check(graph: Graph, factors: tuple[bool, bool], loop: float) -> None:
        rng = np.random.default_rng(graph.nodes)
        left, right = (rng.standard_normal(graph.nodes).astype("f4") if used else None for used in factors)
        matrix = Matrix(graph.adjacency, left, right, loop)
        dense = matrix.to_scipy().toarray().astype(np.float64)
        np.testing.assert_allclose(engine.product(matrix, graph.features), dense @ graph.features, atol=2e-4)

    check()


def some_rows_equal_those_of_all_rows_and_read_nothing_else(engine: Engine, folder: Path, examples: int) -> None:
    @settings(max_examples=examples)
    @given(graph=graphs(), chosen=st.integers(0, 2**12 - 1), loop=st.sampled_from([0.0, 1.0]))
    def check(graph: Graph, chosen: int, loop: float) -> None:
        rows = np.array([i for i in range(graph.nodes) if chosen >> i & 1], np.int64)
        matrix = Matrix(graph.adjacency, left=np.full(graph.nodes, 2, np.float32), self_loop=loop)
        expected = engine.product(matrix, graph.features)[rows]
        read = graph.adjacency.column_mask(rows)
        read[rows] |= loop != 0
        poisoned = np.where(read[:, None], graph.features, np.float32("nan"))
        result = engine.product(matrix, poisoned, rows)
        assert result.shape == graph.features.shape
        assert (result[rows] == expected).all()

    check()


def the_layout_of_inputs_changes_no_bit(engine: Engine, folder: Path, examples: int) -> None:
    """Mapped arrays, int64 indices, strided rows and half precision at once, as a product may take a second."""
    graph = Communities(nodes=500, edges=4000).load()
    weights = np.random.default_rng(0).random(graph.adjacency.entries).astype(np.float32)
    held = CSR(graph.adjacency.indptr, graph.adjacency.indices, weights)
    assert held.indices.dtype == np.int32
    np.save(folder / "indices", held.indices.astype(np.int64))
    np.save(folder / "weights", held.weights)
    mapped = CSR(held.indptr, *(np.load(folder / f"{name}.npy", mmap_mode="r+") for name in ("indices", "weights")))
    strided = graph.features.astype(np.float16)[:, ::2]
    assert not strided.flags.c_contiguous
    plain = np.ascontiguousarray(strided, np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "CHUNK_BYTES", 1000)
        for rows in (None, np.arange(0, 500, 3)):
            expected, result = engine.product(Matrix(held), plain, rows), engine.product(Matrix(mapped), strided, rows)
            assert result.dtype == np.float32
            kept = slice(None) if rows is None else rows
            assert (expected[kept] == result[kept]).all()


def blocks_cover_each_wanted_power_once(engine: Engine, folder: Path, examples: int) -> None:
    graph = Communities(nodes=120, edges=500, features=20).load()
    operator, used = NormalizedAdjacency(), np.arange(0, 120, 7)
    diffusion = Diffusion(operator, operator.matrix(graph), graph.features, {1: None, 2: None, 3: used}, {1, 3}, used)
    values = {power: np.full((len(used), 20), np.nan, np.float32) for power in (1, 3)}
    for power, rows, columns, block in engine.powers(diffusion):
        assert np.isnan(values[power][rows, columns]).all()
        values[power][rows, columns] = block
    dense = operator.matrix(graph).to_scipy().toarray().astype(np.float64)
    for power, array in values.items():
        expected = (np.linalg.matrix_power(dense, power) @ graph.features)[used]
        np.testing.assert_allclose(array, expected, atol=1e-4)


Check = Callable[[Engine, Path, int], None]
CHECKS: list[Check] = [
    product_equals_the_dense_product,
    some_rows_equal_those_of_all_rows_and_read_nothing_else,
    the_layout_of_inputs_changes_no_bit,
    blocks_cover_each_wanted_power_once,
]
