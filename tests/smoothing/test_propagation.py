import numpy as np
import pytest
from common.graphs import dense_undirected, graphs, inverse, normalized, row_normalized
from hypothesis import given
from hypothesis import strategies as st

from sign.engines.local.engine import LocalEngine
from sign.engines.torch import TorchEngine
from sign.graph.graph import Graph
from sign.smoothing import propagation
from sign.smoothing.propagation import clamp, propagate

ENGINE = LocalEngine(threads=1)
MATRICES = {
    "symmetric": normalized,
    "row": row_normalized,
    "column": lambda weights: weights @ np.diag(inverse(weights.sum(axis=1))),
}


def by_formula(graph: Graph, normalization: str, start: np.ndarray, alpha: float, iterations: int) -> np.ndarray:
    matrix = MATRICES[normalization](dense_undirected(graph))
    x = start.astype(np.float64)
    for _ in range(iterations):
        x = np.clip(alpha * matrix @ x + (1 - alpha) * start, 0, 1)
    return x


@given(graphs(), st.sampled_from(sorted(MATRICES)), st.sampled_from([0.0, 0.5, 0.9, 1.0]), st.integers(1, 6))
def test_propagation_is_its_formula(graph: Graph, normalization: str, alpha: float, iterations: int) -> None:
    start = np.random.default_rng(0).uniform(0, 1, (graph.nodes, 3)).astype(np.float32)
    before = start.copy()
    result = propagate(graph, normalization, start, alpha, iterations, ENGINE, clamp(0, 1))
    np.testing.assert_allclose(result, by_formula(graph, normalization, start, alpha, iterations), atol=1e-5)
    np.testing.assert_array_equal(start, before)


@given(graphs())
def test_blocks_of_columns_and_engines_change_nothing(graph: Graph) -> None:
    start = np.random.default_rng(1).uniform(0, 1, (graph.nodes, 5)).astype(np.float32)
    whole = propagate(graph, "symmetric", start, 0.8, 4, ENGINE, clamp(0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(propagation, "column_blocks", lambda *_: [slice(0, 2), slice(2, 4), slice(4, 5)])
        np.testing.assert_array_equal(propagate(graph, "symmetric", start, 0.8, 4, ENGINE, clamp(0, 1)), whole)
    other = propagate(graph, "symmetric", start, 0.8, 4, TorchEngine(), clamp(0, 1))
    np.testing.assert_allclose(other, whole, atol=1e-6)
