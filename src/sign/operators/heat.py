"""The heat kernel, without forming a matrix exponential."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import SYMMETRIC, Operator, Polynomial, Product, ScaledEdges
from sign.operators.chebyshev import apply_polynomial, coefficients
from sign.validation import Range


@dataclass(frozen=True)
class HeatKernel(Operator):
    r"""The heat kernel :math:`e^{-τΔ} = e^{-τ}\,e^{τA}` with :math:`Δ = I - A`, :math:`A = D^{-1/2} W D^{-1/2}`.

    Applied to the features as a Chebyshev expansion of :math:`e^{-τ(1-t)}`. The k-th power is diffusion for kτ.
    The features of an isolated node decay by :math:`e^{-τ}`, as Δ is 1 there.

    Parameters
    ----------
    time
        The diffusion time τ.
    tolerance
        The error ε in the spectral norm, for which large τ take about :math:`\sqrt{2τ\ln(1/ε)}` products.

    Examples
    --------
    >>> from sign.testing import path, product
    >>> heat = HeatKernel(time=1.0, tolerance=1e-7)
    >>> heat.apply(heat.matrix(path(2)), np.eye(2, dtype=np.float32), product).round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]], dtype=float32)
    """

    name = "heat"
    time: Annotated[float, Range(0, 1000)] = 3.0
    tolerance: Annotated[float, Range(1e-9, 0.1)] = 1e-5

    def matrix(self, graph: Graph) -> Matrix:
        """Return the normalised adjacency A."""
        return SYMMETRIC.matrix(graph.undirected)

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The edges of A."""
        return SYMMETRIC if type(self).matrix is HeatKernel.matrix else None

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """Return the polynomial of A applied to x."""
        return apply_polynomial(self._terms, matrix, x, product)

    @property
    def products(self) -> int:
        """The number of terms of the expansion beyond the constant."""
        return len(self._terms) - 1

    @property
    def polynomial(self) -> Polynomial | None:
        """The Chebyshev expansion of the heat kernel."""
        return Polynomial(tuple(self._terms)) if type(self).apply is HeatKernel.apply else None

    @cached_property
    def _terms(self) -> Array:
        return coefficients(lambda t: np.exp(-self.time * (1 - t)), self.tolerance)
