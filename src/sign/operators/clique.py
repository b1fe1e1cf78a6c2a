"""Edges weighted by the cliques they are in, as in MotifNet."""

from dataclasses import dataclass
from typing import Annotated

from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator
from sign.operators.motif import motif_matrix
from sign.validation import Range


@dataclass(frozen=True)
class CliqueAdjacency(Operator):
    r"""Row-normalised :math:`w_{ij}\,c_{ij}`, where :math:`c_{ij}` counts the cliques of ``size`` nodes with ij.

    Size 3 is the triangle. Self-loops are left out. Cliques are enumerated, so large sizes are for small or
    sparse graphs.

    >>> from sign.testing import graph_of
    >>> edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 2)]
    >>> CliqueAdjacency(size=4).matrix(graph_of(edges, 5)).to_scipy().toarray()[4].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """

    size: Annotated[int, Range(3, 8)] = 4

    def matrix(self, graph: Graph) -> Matrix:
        """The weighted counts, with their row sums as a factor on the left."""
        from sign.operators.motif_counts import cliques

        csr = remove_self_loops(graph.undirected)
        return motif_matrix(csr, cliques(csr, self.size))
