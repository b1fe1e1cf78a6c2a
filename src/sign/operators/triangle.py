"""The triangle-induced adjacency (model.t)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import remove_self_loops, select_entries
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator
from sign.operators.motif import motif_matrix

Count: TypeAlias = Callable[[CSR], Array]  # the triangles of every entry of a symmetric loopless matrix


@dataclass(frozen=True)
class TriangleAdjacency(Operator):
    r"""Row-normalised :math:`w_{ij}\,t_{ij}`, where :math:`t_{ij}` is the number of triangles the edge ij is in.

    A node without triangles has a row of zeros. With ``keep_self_loops`` the loops of the data set
    take part as the appendix does for PPI: :math:`t_{ij} = |N(i) ∩ N(j)|`, where a node with a loop is its own
    neighbour, for loops too. Without it they are left out first.

    >>> from sign.testing import graph_of
    >>> kite = graph_of([(0, 1), (1, 2), (2, 0), (2, 3)], 4)
    >>> TriangleAdjacency().matrix(kite).to_scipy().toarray()
    array([[0. , 0.5, 0.5, 0. ],
           [0.5, 0. , 0.5, 0. ],
           [0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0. , 0. ]], dtype=float32)
    """

    keep_self_loops: bool = False

    def matrix(self, graph: Graph, count: Count | None = None) -> Matrix:
        """The weighted counts, with their row sums as a factor on the left; an engine may ``count`` them."""
        csr = graph.undirected if self.keep_self_loops else remove_self_loops(graph.undirected)
        return motif_matrix(csr, common_neighbours(csr, count))


def common_neighbours(csr: CSR, count: Count | None = None) -> Array:
    """For every entry ij of a symmetric matrix, the number of k with entries ik and jk."""
    from sign.operators.motif_counts import triangles

    count = count or triangles
    rows = csr.row_indices()
    loops = rows == csr.indices
    if not loops.any():
        return count(csr)
    counts = np.empty(csr.entries, np.int64)
    counts[~loops] = count(select_entries(csr, ~loops))
    looped = np.zeros(csr.nodes, np.int64)
    looped[rows[loops]] = 1
    counts[~loops] += looped[rows[~loops]] + looped[csr.indices[~loops]]
    counts[loops] = np.diff(csr.indptr)[rows[loops]]
    return counts
