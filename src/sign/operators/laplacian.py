"""Powers of the normalised graph Laplacian."""

from dataclasses import dataclass

from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import SYMMETRIC, Operator, Polynomial, Product, ScaledEdges


@dataclass(frozen=True)
class Laplacian(Operator):
    r"""The normalised Laplacian :math:`Δ = I - D^{-1/2} W D^{-1/2}`, with spectrum in [0, 2].

    >>> from sign.testing import path, product
    >>> import numpy as np
    >>> Δ = Laplacian()
    >>> Δ.apply(Δ.matrix(path(2)), np.eye(2, dtype=np.float32), product)
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """

    name = "laplacian"

    def matrix(self, graph: Graph) -> Matrix:
        """Return the normalised adjacency A."""
        return SYMMETRIC.matrix(graph.undirected)

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The edges of A."""
        return SYMMETRIC if type(self).matrix is Laplacian.matrix else None

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """Return x - A x."""
        return x - product(matrix, x)

    @property
    def polynomial(self) -> Polynomial | None:
        """1 - t."""
        return Polynomial((1.0, -1.0)) if type(self).apply is Laplacian.apply else None
