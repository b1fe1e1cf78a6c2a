"""Jacobi polynomials of the adjacency equal those of its eigenvalues."""

import pytest
from common.bases import assert_basis
from common.graphs import graphs
from hypothesis import given
from scipy.special import eval_jacobi

from sign.graph.graph import Graph
from sign.operators.jacobi import JacobiBasis


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (1.0, 1.0), (-0.5, -0.5), (2.0, -0.5)])
@given(graph=graphs())
def test_hops_equal_the_dense_polynomials(graph: Graph, a: float, b: float) -> None:
    assert_basis(JacobiBasis(a, b), graph, lambda power, values: eval_jacobi(power, a, b, values))
