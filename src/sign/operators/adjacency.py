"""The normalised adjacency of the paper (model.p)."""

from dataclasses import dataclass
from typing import Literal

from sign.graph.csr_transforms import drop_edges
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.validation import Probability, Seed


@dataclass(frozen=True)
class NormalizedAdjacency(Operator):
    r"""The undirected adjacency :math:`W`, normalised by name.

    ===========  ======================================================  =============================
    name         matrix
    ===========  ======================================================  =============================
    gcn          :math:`\tilde D^{-1/2}(W + I)\tilde D^{-1/2}`            the paper's, with self-loops
    symmetric    :math:`D^{-1/2} W D^{-1/2}`                             spectrum in [-1, 1]
    row          :math:`D^{-1} W`                                        the mean over neighbours
    column       :math:`W D^{-1}`                                        each node divides itself among its neighbours
    ===========  ======================================================  =============================

    :math:`\tilde D` are the row sums of :math:`W + I`. An isolated node has a row of zeros, except with ``gcn``.

    Parameters
    ----------
    normalization
        One of the names above.
    drop_edges, drop_seed
        The fraction of the edges that is removed before normalisation, and the seed they are drawn with.

    Examples
    --------
    >>> from sign.testing import path
    >>> NormalizedAdjacency().matrix(path(2)).to_scipy().toarray().round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    >>> NormalizedAdjacency("row").matrix(path(3)).to_scipy().toarray()
    array([[0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0. , 1. , 0. ]], dtype=float32)
    """

    name = "adjacency"
    normalization: Literal["gcn", "symmetric", "row", "column"] = "gcn"
    drop_edges: Probability = 0.0
    drop_seed: Seed = 0

    def matrix(self, graph: Graph) -> Matrix:
        """Return the adjacency, with its normalisation as factors on both sides."""
        csr = drop_edges(graph.undirected, self.drop_edges, self.drop_seed)
        loop = 1.0 if self.normalization == "gcn" else 0.0
        degrees = csr.row_sums + loop
        if self.normalization == "row":
            return Matrix(csr, left=inverse_power(degrees, 1))
        if self.normalization == "column":
            return Matrix(csr, right=inverse_power(degrees, 1))
        scale = inverse_power(degrees, 0.5)
        return Matrix(csr, left=scale, right=scale, self_loop=loop)
