"""The normalised adjacency of the paper (model.p)."""

from dataclasses import dataclass
from typing import Literal

from sign.graph.csr_transforms import drop_edges
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import SYMMETRIC, WITH_LOOPS, Operator, ScaledEdges
from sign.validation import Probability, Seed

SCALED = {
    "gcn": WITH_LOOPS,
    "symmetric": SYMMETRIC,
    "row": ScaledEdges("undirected", left=1.0),
    "column": ScaledEdges("undirected", right=1.0),
}


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
        return SCALED[self.normalization].matrix(drop_edges(graph.undirected, self.drop_edges, self.drop_seed))

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The edges with their normalisation, unless some are dropped."""
        own = type(self).matrix is NormalizedAdjacency.matrix and not self.drop_edges
        return SCALED[self.normalization] if own else None
