"""The triangle figure shows what the appendix describes."""

import numpy as np
import pytest
from common.graphs import applied, graphs
from hypothesis import given

from sign.datasets.cora import Cora
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.operators.triangle import TriangleAdjacency
from sign.reproduction.triangle_figure import triangle_deviations, triangle_figure
from sign.testing import graph_of


@pytest.mark.parametrize("keep_self_loops", [False, True])
@given(graph=graphs())
def test_deviations_equal_those_of_the_dense_weights(keep_self_loops: bool, graph: Graph) -> None:
    weights = applied(TriangleAdjacency(keep_self_loops), graph)
    csr = graph.undirected if keep_self_loops else remove_self_loops(graph.undirected)
    pattern = csr.to_scipy().toarray() > 0
    expected = [weights[i][pattern[i]].std() for i in range(graph.nodes) if pattern[i].any()]
    np.testing.assert_allclose(triangle_deviations(graph, keep_self_loops), expected, atol=1e-3)


def test_deviations_are_zero_on_a_clique_and_known_on_a_kite() -> None:
    clique = graph_of([(i, j) for i in range(5) for j in range(i)], 5)
    assert triangle_deviations(clique).max() < 1e-3
    kite = graph_of([(0, 1), (1, 2), (2, 0), (2, 3)], 4)
    np.testing.assert_allclose(triangle_deviations(kite), [0, 0, np.std([0.5, 0.5, 0]), 0], atol=1e-3)


def test_bars_of_each_panel_sum_to_one() -> None:
    graph = Cora().load()
    deviations = triangle_deviations(graph)
    figure = triangle_figure([("cora", deviations), ("again", deviations)])
    assert len(figure.axes) == 2
    for panel in figure.axes:
        assert sum(bar.get_height() for bar in panel.patches) == pytest.approx(1)
