"""Adjacencies weighted by motifs: an engine may count them, and each motif has a closed form on a complete graph."""

from math import comb

import numpy as np
import pytest

from sign.errors import SignError
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Motif
from sign.operators.clique import CliqueAdjacency
from sign.operators.four_cycle import FourCycleAdjacency
from sign.operators.motif import MotifAdjacency
from sign.operators.motif_counts import count_motifs
from sign.operators.triangle import TriangleAdjacency
from sign.testing import graph_of, path

COMPLETE = graph_of([(i, j) for i in range(7) for j in range(i)], 7)


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_cliques_of_a_complete_graph(size: int) -> None:
    counts = count_motifs(Motif("clique", size), COMPLETE.undirected)
    assert (counts == comb(5, size - 2)).all()


def test_four_cycles_of_a_complete_graph() -> None:
    assert (count_motifs(Motif("cycle", 4), COMPLETE.undirected) == 5 * 4).all()


def test_other_cycles_are_refused() -> None:
    with pytest.raises(SignError, match="cycles of 5 nodes cannot be counted"):
        count_motifs(Motif("cycle", 5), COMPLETE.undirected)


@pytest.mark.parametrize(
    "operator", [TriangleAdjacency(), TriangleAdjacency(keep_self_loops=True), CliqueAdjacency(), FourCycleAdjacency()]
)
def test_the_engine_counts_the_motif(operator: MotifAdjacency) -> None:
    asked = []

    def count(motif: Motif, csr):
        asked.append(motif)
        return count_motifs(motif, csr)

    ours, theirs = operator.matrix_by(COMPLETE, count), operator.matrix(COMPLETE)
    assert asked == [operator.motif]
    assert (ours.to_scipy().toarray() == theirs.to_scipy().toarray()).all()


def test_a_subclass_with_a_matrix_of_its_own_counts_nothing() -> None:
    class Own(TriangleAdjacency):
        def matrix(self, graph: Graph) -> Matrix:
            return Matrix(graph.undirected)

    matrix = Own().matrix_by(path(3), lambda motif, csr: np.zeros(csr.entries))
    assert matrix.csr.entries == 4
