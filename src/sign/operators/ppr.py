"""Personalised PageRank (model.s)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Literal, Self

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.csr_transforms import add_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import WITH_LOOPS, Operator, Polynomial, Product, ScaledEdges
from sign.operators.chebyshev import apply_polynomial, coefficients
from sign.validation import Range

INDUCTIVE, TRANSDUCTIVE = 0.01, 0.05  # restart probabilities of the paper


@dataclass(frozen=True)
class PersonalizedPageRank(Operator):
    r"""Random-walk normalised PPR: :math:`D_S^{-1} S` with :math:`S = α\,(I - (1-α)\,T)^{-1}`.

    :math:`T = \tilde D^{-1/2}(W + I)\tilde D^{-1/2}` is the symmetrically normalised transition matrix and
    :math:`D_S` are the row sums of :math:`S`. The two methods give different operators:

    ``solve``
        computes the formula. :math:`S` is never formed: a Chebyshev expansion of :math:`α/(1-(1-α)t)` is applied
        to the features and to a column of ones, to an error of ``tolerance`` in the spectral norm of S (rounding to
        float32 adds about 1e-7 per product).
    ``push``
        is a sparse approximation (Andersen et al. 2006, as in GDC): the walk from each node is followed until every
        residual is below ``alpha · epsilon · degree``, then entries below ``threshold`` are dropped, or all but the
        ``top_k`` largest are (never the node itself), and rows are normalised. It is local: far nodes, whose
        weights are small but many, are cut off, so each row is an average over a neighbourhood of bounded size.

    Parameters
    ----------
    method
        ``solve`` or ``push``.
    alpha
        The restart probability α; None for the paper's, 0.01 for inductive and 0.05 for transductive data sets.
    tolerance
        The error of ``solve``.
    epsilon, threshold, top_k
        When ``push`` stops, and which entries it keeps; zero keeps all.

    Examples
    --------
    >>> from sign.testing import path, product
    >>> full = PersonalizedPageRank(alpha=0.5, tolerance=1e-7)
    >>> operator = full.matrix(path(2))
    >>> full.apply(operator, np.eye(2, dtype=np.float32), product).round(4)
    array([[0.75, 0.25],
           [0.25, 0.75]], dtype=float32)
    """

    name = "ppr"
    method: Literal["solve", "push"] = "solve"
    alpha: Annotated[float | None, Range(1e-3, 1)] = None
    tolerance: Annotated[float, Range(1e-9, 0.1)] = 1e-5
    epsilon: Annotated[float, Range(1e-9, 1)] = 1e-3
    threshold: Annotated[float, Range(0, below=1)] = 0.0
    top_k: Annotated[int, Range(0)] = 0

    def resolve(self, inductive: bool) -> Self:
        """Set the restart probability of the protocol, unless alpha is set."""
        if self.alpha is not None:
            return self
        return replace(self, alpha=INDUCTIVE if inductive else TRANSDUCTIVE)

    def matrix(self, graph: Graph) -> Matrix:
        """Return T for ``solve``, the sparsified and normalised rows of S for ``push``."""
        if self.method == "push":
            from sign.operators.ppr_push import push_rows  # imported late: it compiles

            looped = add_self_loops(graph.undirected)
            return Matrix(push_rows(looped, self._restart, self.epsilon, self.threshold, self.top_k))
        return WITH_LOOPS.matrix(graph.undirected)

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The edges of T for ``solve``."""
        own = type(self).matrix is PersonalizedPageRank.matrix and self.method == "solve"
        return WITH_LOOPS if own else None

    def apply(self, matrix: Matrix, x: Floats, product: Product) -> Floats:
        """Return S x divided by S 1 for ``solve``, the product with the sparsified rows for ``push``."""
        if self.method == "push":
            return product(matrix, x)
        with_ones = np.column_stack([x, np.ones(len(x), np.float32)])
        solved = apply_polynomial(self._terms, matrix, with_ones, product)
        return solved[:, :-1] / solved[:, -1:]

    @property
    def products(self) -> int:
        """One for ``push``; for ``solve`` and a tolerance of 1e-5 about 80 at α = 0.01 and 36 at α = 0.05."""
        return 1 if self.method == "push" else len(self._terms) - 1

    @property
    def is_one_product(self) -> bool:
        """Whether the matrix is PPR itself, as it is for ``push``."""
        return self.method == "push" and type(self).apply is PersonalizedPageRank.apply

    @property
    def polynomial(self) -> Polynomial | None:
        """The Chebyshev expansion for ``solve``; one product for ``push``."""
        if self.method == "push" or type(self).apply is not PersonalizedPageRank.apply:
            return super().polynomial
        return Polynomial(tuple(self._terms), normalized=True)

    @property
    def _restart(self) -> float:
        """The restart probability; the transductive one until :meth:`resolve` is called."""
        return TRANSDUCTIVE if self.alpha is None else self.alpha

    @cached_property
    def _terms(self) -> Array:
        return coefficients(lambda t: self._restart / (1 - (1 - self._restart) * t), self.tolerance)
