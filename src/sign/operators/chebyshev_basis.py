"""Chebyshev polynomials of the normalised adjacency: the basis of ChebNetII's filters."""

from dataclasses import dataclass

from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, Product, inverse_power


@dataclass(frozen=True)
class ChebyshevBasis(Operator):
    r"""The hops :math:`T_k(A) X` with :math:`A = D^{-1/2} W D^{-1/2}`, instead of powers of one map.

    :math:`T_0 = 1`, :math:`T_1(A) = A` and :math:`T_k(A) = 2 A\,T_{k-1}(A) - T_{k-2}(A)`: one product per hop. Unlike
    powers, they stay distinct: on the spectrum [-1, 1] they are orthogonal.

    >>> from sign.testing import path, product
    >>> import numpy as np
    >>> basis, x = ChebyshevBasis(), np.eye(2, dtype=np.float32)
    >>> matrix = basis.matrix(path(2))
    >>> first = basis.step(matrix, 1, x, None, product)
    >>> basis.step(matrix, 2, first, x, product)  # T_2(A) = 2 A² - 1, and A² = 1
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    name = "chebyshev_basis"
    recurrent = True

    def matrix(self, graph: Graph) -> Matrix:
        """Return the normalised adjacency A."""
        scale = inverse_power(graph.undirected.row_sums, 0.5)
        return Matrix(graph.undirected, left=scale, right=scale)

    def step(self, matrix: Matrix, power: int, x: Floats, before: Floats | None, product: Product) -> Floats:
        """Return 2 A x - before, or A x for the first power."""
        following = product(matrix, x)
        if before is not None:
            following *= 2
            following -= before
        return following
