"""The normalised adjacency equals its formula."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import dense_undirected, graphs, inverse

from sign.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency


@given(graphs(), st.booleans())
def test_it_equals_the_dense_formula(graph: Graph, self_loops: bool) -> None:
    weights = dense_undirected(graph) + self_loops * np.eye(graph.nodes)
    scale = np.diag(inverse(weights.sum(axis=1), 0.5))
    ours = NormalizedAdjacency(self_loops=self_loops).matrix(graph).to_scipy().toarray()
    np.testing.assert_allclose(ours, scale @ weights @ scale, atol=1e-6)


@given(graphs())
def test_it_is_symmetric_with_spectrum_in_minus_one_to_one(graph: Graph) -> None:
    matrix = NormalizedAdjacency().matrix(graph).to_scipy().toarray().astype(np.float64)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-6)
    eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    assert eigenvalues.min() > -1 - 1e-5
    assert abs(eigenvalues.max() - 1) < 1e-5
