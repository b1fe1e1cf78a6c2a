"""The normalised Laplacian."""

import numpy as np
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, normalized
from hypothesis import given

from sign.graph.graph import Graph
from sign.operators.laplacian import Laplacian


@given(graph=graphs())
def test_it_equals_the_dense_formula(graph: Graph) -> None:
    expected = np.eye(graph.nodes) - normalized(dense_undirected(graph))
    np.testing.assert_allclose(applied(Laplacian(), graph), expected, atol=1e-5)


@given(graph=graphs())
def test_its_spectrum_is_in_zero_to_two_and_the_square_roots_of_degrees_are_in_its_kernel(graph: Graph) -> None:
    matrix = applied(Laplacian(), graph)
    eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    assert eigenvalues.min() > -1e-5
    assert eigenvalues.max() < 2 + 1e-5
    degrees = dense_undirected(graph).sum(axis=1)
    np.testing.assert_allclose(matrix @ np.sqrt(degrees), 0, atol=1e-4)
    assert_equivariant(Laplacian(), graph)
