"""The triangle-induced adjacency (model.t)."""

from dataclasses import dataclass

import numpy as np

from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import select_entries
from sign.graph.graph import Graph
from sign.operators.base import Motif, MotifCounter, ScaledEdges
from sign.operators.motif import MEAN, MotifAdjacency


@dataclass(frozen=True)
class TriangleAdjacency(MotifAdjacency):
    r"""Row-normalised :math:`w_{ij}\,t_{ij}`, where :math:`t_{ij}` is the number of triangles the edge ij is in.

    A node without triangles has a row of zeros.

    Parameters
    ----------
    keep_self_loops
        Use the self-loops of the data set, as in the paper's appendix for PPI: :math:`t_{ij} = |N(i) ∩ N(j)|`, where a
        node with a self-loop is its own neighbour. Otherwise self-loops are removed first.

    Examples
    --------
    >>> from sign.testing import graph_of
    >>> kite = graph_of([(0, 1), (1, 2), (2, 0), (2, 3)], 4)
    >>> TriangleAdjacency().matrix(kite).to_scipy().toarray()
    array([[0. , 0.5, 0.5, 0. ],
           [0.5, 0. , 0.5, 0. ],
           [0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0. , 0. ]], dtype=float32)
    """

    name = "triangle"
    keep_self_loops: bool = False

    @property
    def motif(self) -> Motif:
        """The triangle."""
        return Motif("clique", 3)

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The weighted counts, unless self-loops are kept."""
        own = type(self).matrix is MotifAdjacency.matrix and not self.keep_self_loops
        return MEAN if own else None

    def edges(self, graph: Graph) -> CSR:
        """Return the undirected edges, with the self-loops of the data set if they are kept."""
        return graph.undirected if self.keep_self_loops else super().edges(graph)

    def counts(self, csr: CSR, count: MotifCounter) -> Array:
        """Return, for each entry ij, the number of k with entries ik and jk."""
        rows = csr.row_indices()
        loops = rows == csr.indices
        if not loops.any():
            return count(self.motif, csr)
        counts = np.empty(csr.entries, np.int64)
        counts[~loops] = count(self.motif, select_entries(csr, ~loops))
        looped = np.zeros(csr.nodes, np.int64)
        looped[rows[loops]] = 1
        counts[~loops] += looped[rows[~loops]] + looped[csr.indices[~loops]]
        counts[loops] = np.diff(csr.indptr)[rows[loops]]
        return counts
