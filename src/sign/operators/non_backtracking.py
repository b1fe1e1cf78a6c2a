"""Walks that never turn back: nodes weighted by the paths of a given length that lead to them."""

from dataclasses import dataclass
from typing import Annotated

from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.validation import Range


@dataclass(frozen=True)
class NonBacktrackingWalks(Operator):
    r"""Row-normalised :math:`N_k`, the weights of all walks of ``length`` k that never return along the last edge.

    :math:`N_0 = I` and :math:`N_k = N_{k-1} W - N_{k-2} W_2 + N_{k-3} W_3 - \dots \pm W_k`, where
    :math:`W_m` has the entries :math:`w_{ij}^m` for odd m, and for even m their row sums on its diagonal. Without
    weights this is :math:`N_2 = A^2 - D` and :math:`N_k = N_{k-1} A - N_{k-2}(D - I)`. The weight of a walk is the
    product of the weights of its edges; self-loops are removed.

    The walks are followed one by one, so that no rounding cancels: the time is their number, :math:`\sum_i d_i^2` for
    length 2, and the matrix has an entry for each pair of ends.

    Parameters
    ----------
    length
        The number k of edges of a walk.
    top_k
        Keep only as many of the largest weights of each row; zero keeps all.

    Examples
    --------
    >>> from sign.testing import path
    >>> NonBacktrackingWalks().matrix(path(4)).to_scipy().toarray()
    array([[0., 0., 1., 0.],
           [0., 0., 0., 1.],
           [1., 0., 0., 0.],
           [0., 1., 0., 0.]], dtype=float32)
    """

    name = "non_backtracking"
    length: Annotated[int, Range(1, 8)] = 2
    top_k: Annotated[int, Range(0)] = 0

    def matrix(self, graph: Graph) -> Matrix:
        """Return the weights of the walks, with their inverse row sums as the left factor."""
        from sign.operators.walk_ends import walk_ends  # imported late: it compiles

        ends = walk_ends(remove_self_loops(graph.undirected), self.length, self.top_k)
        return Matrix(ends, left=inverse_power(ends.row_sums, 1))
