"""Hops of operators that are polynomials of a recurrence, and their dense reference."""

from collections.abc import Callable

import numpy as np

from common.graphs import dense_undirected, normalized
from sign.engines.base import Diffusion
from sign.engines.local.engine import LocalEngine
from sign.engines.powers import powers
from sign.graph.graph import Graph
from sign.operators.base import Operator


def assert_basis(operator: Operator, graph: Graph, polynomial: Callable[[int, np.ndarray], np.ndarray]) -> None:
    """Compare five hops of the unit vectors with a polynomial of the eigenvalues of the dense matrix."""
    eye, rows = np.eye(graph.nodes, dtype=np.float32), dict.fromkeys(range(1, 6))
    diffusion = Diffusion(operator, operator.matrix(graph), eye, rows, rows)
    values, vectors = np.linalg.eigh(normalized(dense_undirected(graph)))
    for power, x in powers(diffusion, eye.copy(), LocalEngine(threads=1).product):
        expected = vectors @ np.diag(polynomial(power, values)) @ vectors.T
        np.testing.assert_allclose(x, expected, atol=1e-4 * max(1, np.abs(expected).max()))
