"""The directed adjacency (model.d) and its transpose (model.f)."""

from dataclasses import dataclass

from sign.graph.csr_transforms import drop_edges, remove_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, ScaledEdges
from sign.validation import Probability, Seed


@dataclass(frozen=True)
class DirectedAdjacency(Operator):
    r"""Row-normalised :math:`D^{-1} W_d`, or with ``transposed`` :math:`D_⊤^{-1} W_d^⊤`, without self-loops.

    Row i averages the nodes that i points to; transposed, the nodes that point to i. A node without such
    edges has a row of zeros.

    Parameters
    ----------
    transposed
        Against the direction of the edges.
    drop_edges, drop_seed
        The fraction of the edges that is removed, and the seed they are drawn with.

    Examples
    --------
    >>> from sign.testing import graph_of
    >>> chain = graph_of([(0, 1), (1, 2)], 3, directed=True)
    >>> DirectedAdjacency().matrix(chain).to_scipy().toarray()
    array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    >>> DirectedAdjacency(transposed=True).matrix(chain).to_scipy().toarray()
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.]], dtype=float32)
    """

    name = "directed"
    transposed: bool = False
    drop_edges: Probability = 0.0
    drop_seed: Seed = 0

    def matrix(self, graph: Graph) -> Matrix:
        """Return the edges of one direction, with their inverse row sums as the left factor."""
        csr = drop_edges(remove_self_loops(graph.adjacency), self.drop_edges, self.drop_seed)
        return self._scaled.matrix(csr.transposed if self.transposed else csr)

    @property
    def scaled_edges(self) -> ScaledEdges | None:
        """The edges with their inverse row sums, unless some are dropped."""
        own = type(self).matrix is DirectedAdjacency.matrix and not self.drop_edges
        return self._scaled if own else None

    @property
    def _scaled(self) -> ScaledEdges:
        return ScaledEdges("in" if self.transposed else "out", left=1.0)
