"""Edges weighted by the cycles of four nodes they are in."""

from dataclasses import dataclass

from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator
from sign.operators.motif import motif_matrix


@dataclass(frozen=True)
class FourCycleAdjacency(Operator):
    r"""Row-normalised :math:`w_{ij}\,q_{ij}`, where :math:`q_{ij}` counts the cycles of four nodes with ij in them.

    For an edge, :math:`q_{ij} = (A^3)_{ij} - d_i - d_j + 1`, the walks of
    three steps from i to j that do not turn back. Self-loops are left out; a cycle may have chords.

    >>> from sign.testing import graph_of
    >>> square = graph_of([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], 5)
    >>> FourCycleAdjacency().matrix(square).to_scipy().toarray()[3].tolist()
    [0.5, 0.0, 0.5, 0.0, 0.0]
    """

    def matrix(self, graph: Graph) -> Matrix:
        """The weighted counts, with their row sums as a factor on the left."""
        from sign.operators.motif_counts import four_cycles

        csr = remove_self_loops(graph.undirected)
        return motif_matrix(csr, four_cycles(csr))
