"""Temporal motifs: nodes weighted by time-respecting paths, edges by time-respecting triangles, within a window."""

from dataclasses import dataclass
from typing import Annotated, Literal

from sign.errors import SignError
from sign.graph.csr_transforms import symmetrize
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.validation import Range


@dataclass(frozen=True)
class TemporalMotifs(Operator):
    r"""Row-normalised :math:`c_{ij}`, the number of temporal motifs in timed edges, within a window δ.

    ============  =================================================================================================
    motif         :math:`c_{ij}` counts
    ============  =================================================================================================
    two_path      pairs of timed edges :math:`i → k` at :math:`t_1` and :math:`k → j` at :math:`t_2`, where
                  :math:`j ≠ i` and :math:`t_1 < t_2 ≤ t_1 + δ`
    triangle      triples :math:`u → v` at :math:`t_1`, :math:`v → w` at :math:`t_2` and :math:`w → u` at :math:`t_3`,
                  where :math:`t_1 < t_2 < t_3 ≤ t_1 + δ` and one of the three is :math:`i → j`
    ============  =================================================================================================

    The edges of an undirected graph are used in both directions; there, the counts of both are added. Row i of a
    directed graph averages the nodes that i leads to; ``transposed``, those that lead to i. Timed edges are counted:
    weights of edges are not used, nor are self-loops. A node without motifs has a row of zeros.

    Parameters
    ----------
    motif
        What is counted.
    window
        The most time from the first to the last edge of a motif, in the unit of the times.
    transposed
        Whether the direction of a directed graph is reversed.

    Examples
    --------
    >>> import numpy as np
    >>> edges = np.array([[0, 1], [1, 2], [1, 3]])
    >>> graph = Graph.from_edges(edges, np.eye(4), edge_times=[1, 2, 9], directed=True)
    >>> TemporalMotifs(window=5.0).matrix(graph).to_scipy().toarray()[0]
    array([0., 0., 1., 0.], dtype=float32)
    """

    name = "temporal"
    motif: Literal["two_path", "triangle"] = "two_path"
    window: Annotated[float, Range(0)] = 1.0
    transposed: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        """The times of edges."""
        return ("edge_times",)

    def matrix(self, graph: Graph) -> Matrix:
        """Return the counts, with their inverse row sums as the left factor."""
        from sign.operators.temporal_counts import count_triangles, count_two_paths  # imported late: it compiles

        if graph.edge_times is None:
            raise SignError(
                f"{graph.name}: its edges have no times, which operator temporal reads; name them in "
                "dataset.edge_time, or use another operator"
            )
        count = count_two_paths if self.motif == "two_path" else count_triangles
        counts = count(graph.edge_times, self.window)
        if not graph.directed:
            counts = symmetrize(counts)
        elif self.transposed:
            counts = counts.transposed
        return Matrix(counts, left=inverse_power(counts.row_sums, 1))
