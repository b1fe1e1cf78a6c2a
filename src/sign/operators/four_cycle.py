"""Edges weighted by the cycles of four nodes they are in."""

from dataclasses import dataclass

from sign.operators.base import Motif
from sign.operators.motif import MotifAdjacency


@dataclass(frozen=True)
class FourCycleAdjacency(MotifAdjacency):
    r"""Row-normalised :math:`w_{ij}\,q_{ij}`, where :math:`q_{ij}` counts the cycles of four nodes with ij in them.

    For an edge, :math:`q_{ij} = (A^3)_{ij} - d_i - d_j + 1`, the walks of
    three steps from i to j that do not turn back. Self-loops are removed; a cycle may have chords.

    >>> from sign.testing import graph_of
    >>> square = graph_of([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], 5)
    >>> FourCycleAdjacency().matrix(square).to_scipy().toarray()[3].tolist()
    [0.5, 0.0, 0.5, 0.0, 0.0]
    """

    name = "four_cycle"

    @property
    def motif(self) -> Motif:
        """The cycle of four nodes."""
        return Motif("cycle", 4)
