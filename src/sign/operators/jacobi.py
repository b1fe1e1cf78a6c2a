"""Jacobi polynomials of the normalised adjacency: the basis of JacobiConv's filters."""

from dataclasses import dataclass
from typing import Annotated

from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, Product, inverse_power
from sign.validation import Range


@dataclass(frozen=True)
class JacobiBasis(Operator):
    r"""The hops :math:`P_k^{a,b}(A) X` with :math:`A = D^{-1/2} W D^{-1/2}`, instead of powers of one map.

    Polynomials that are orthogonal for the weight :math:`(1-λ)^a (1+λ)^b` on the spectrum [-1, 1], by their recurrence
    of three terms: one product per hop (Wang and Zhang, arXiv 2205.11172). a = b = 0 are Legendre's.

    >>> from sign.testing import path, product
    >>> import numpy as np
    >>> basis, x = JacobiBasis(0.0, 0.0), np.eye(2, dtype=np.float32)
    >>> matrix = basis.matrix(path(2))
    >>> first = basis.step(matrix, 1, x, None, product)
    >>> basis.step(matrix, 2, first, x, product)  # (3 A² - 1) / 2, and A² = 1
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    name = "jacobi"
    recurrent = True
    a: Annotated[float, Range(-0.5, 10)] = 1.0
    b: Annotated[float, Range(-0.5, 10)] = 1.0

    def matrix(self, graph: Graph) -> Matrix:
        """Return the normalised adjacency A."""
        scale = inverse_power(graph.undirected.row_sums, 0.5)
        return Matrix(graph.undirected, left=scale, right=scale)

    def step(self, matrix: Matrix, power: int, x: Floats, before: Floats | None, product: Product) -> Floats:
        """Return the next polynomial from the two before it."""
        a, b, k = self.a, self.b, power
        if before is None:
            own, scale = (a - b) / 2, (a + b + 2) / 2
        else:
            twice = 2 * k + a + b
            scale = twice * (twice - 1) / (2 * k * (k + a + b))
            own = (twice - 1) * (a * a - b * b) / (2 * k * (k + a + b) * (twice - 2))
        following = product(matrix, x)
        following *= scale
        if own:
            following += own * x
        if before is not None:
            following -= (k + a - 1) * (k + b - 1) * twice / (k * (k + a + b) * (twice - 2)) * before
        return following
