"""The heat kernel equals the matrix exponential."""

import numpy as np
import scipy.linalg
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, normalized
from hypothesis import given
from hypothesis import strategies as st

from sign.graph.graph import Graph
from sign.operators.heat import HeatKernel


@given(graph=graphs(), time=st.sampled_from([0.0, 0.5, 3.0, 20.0]))
def test_it_equals_the_dense_exponential(graph: Graph, time: float) -> None:
    laplacian = np.eye(graph.nodes) - normalized(dense_undirected(graph))
    ours = applied(HeatKernel(time=time, tolerance=1e-6), graph)
    np.testing.assert_allclose(ours, scipy.linalg.expm(-time * laplacian), atol=1e-5)


@given(graph=graphs())
def test_twice_is_the_double_time_and_the_spectrum_is_in_zero_to_one(graph: Graph) -> None:
    once, twice = (applied(HeatKernel(time=time, tolerance=1e-6), graph) for time in (1.5, 3.0))
    np.testing.assert_allclose(once @ once, twice, atol=1e-5)
    eigenvalues = np.linalg.eigvalsh((once + once.T) / 2)
    assert eigenvalues.min() > -1e-5
    assert eigenvalues.max() < 1 + 1e-5
    assert_equivariant(HeatKernel(tolerance=1e-6), graph)


def test_products_grow_with_the_square_root_of_time() -> None:
    assert HeatKernel(time=3.0).products < 20
    assert HeatKernel(time=300.0).products < 120
