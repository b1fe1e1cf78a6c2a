"""Edges weighted by the cliques they are in, as in MotifNet."""

from dataclasses import dataclass
from typing import Annotated

from sign.operators.base import Motif
from sign.operators.motif import MotifAdjacency
from sign.validation import Range


@dataclass(frozen=True)
class CliqueAdjacency(MotifAdjacency):
    r"""Row-normalised :math:`w_{ij}\,c_{ij}`, where :math:`c_{ij}` counts the cliques of ``size`` nodes with ij.

    Self-loops are removed. Cliques are enumerated, so large sizes are for small or sparse graphs.

    Parameters
    ----------
    size
        Nodes of a clique; 3 is the triangle.

    Examples
    --------
    >>> from sign.testing import graph_of
    >>> edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 2)]
    >>> CliqueAdjacency(size=4).matrix(graph_of(edges, 5)).to_scipy().toarray()[4].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """

    name = "clique"
    size: Annotated[int, Range(3, 8)] = 4

    @property
    def motif(self) -> Motif:
        """The clique of ``size`` nodes."""
        return Motif("clique", self.size)
