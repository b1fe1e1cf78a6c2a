"""The normalised adjacency of the paper (model.p)."""

from dataclasses import dataclass

import numpy as np

from sign.graph import Graph
from sign.operators.operator import Operator
from sign.sparse import Floats, Matrix


@dataclass(frozen=True)
class NormalizedAdjacency(Operator):
    r"""GCN normalisation :math:`\tilde D^{-1/2}(W + I)\tilde D^{-1/2}` of the undirected graph.

    :math:`\tilde D` are the row sums of :math:`W + I`. Without self-loops it is the paper's
    :math:`A = D^{-1/2} W D^{-1/2}`; an isolated node then has a row of zeros.

    >>> from sign.testing import path
    >>> NormalizedAdjacency().matrix(path(2)).to_scipy().toarray().round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """

    self_loops: bool = True

    def matrix(self, graph: Graph) -> Matrix:
        """The symmetric matrix, its normalisation kept as factors on both sides."""
        loop = 1.0 if self.self_loops else 0.0
        scale = inverse_power(graph.undirected.row_sums + loop, 0.5)
        return Matrix(graph.undirected, left=scale, right=scale, self_loop=loop)


def inverse_power(degrees: np.ndarray, power: float) -> Floats:
    """``degrees ** -power``, with zero where there is no degree."""
    with np.errstate(divide="ignore"):
        return np.where(degrees > 0, degrees**-power, 0.0).astype(np.float32)
