"""Another numbering of the nodes changes no bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.graphs import graphs
from hypothesis import given

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import WORTH, LocalEngine
from sign.graph.classification import classification_of
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.ppr import PersonalizedPageRank
from sign.renumbering import by_hubs, places, renumbered
from sign.store.store import Store
from sign.testing import graph_of


@given(graph=graphs())
def test_products_have_the_same_bits(graph: Graph) -> None:
    matrix, order = NormalizedAdjacency().matrix(graph), by_hubs(graph.undirected)
    assert sorted(order) == list(range(graph.nodes))
    assert (places(order)[order] == np.arange(graph.nodes)).all()
    engine = LocalEngine()
    there = engine.product(renumbered(matrix, order), graph.features[order])
    assert (there == engine.product(matrix, graph.features)[order]).all()


def test_nodes_of_a_hub_stand_together() -> None:
    two_stars = [(0, leaf) for leaf in (2, 4, 6)] + [(1, leaf) for leaf in (3, 5, 7, 8)]
    order = by_hubs(graph_of(two_stars, 9).undirected)
    leaves = [node for node in order if node > 1]
    assert leaves == [2, 4, 6, 3, 5, 7, 8]


@pytest.mark.parametrize("rows", ["used", "all"])
def test_the_store_has_the_same_bits(tmp_path: Path, rows: str) -> None:
    whole = Communities(nodes=300, edges=900, features=5).load()
    graph = replace(whole, train=whole.train[::4], val=whole.val[::4], test=whole.test[::4])
    operator = PersonalizedPageRank(alpha=0.01)
    assert operator.products >= WORTH  # else nothing would be renumbered
    stored = {}
    for reorder in (False, True):
        store = Store(str(tmp_path / str(reorder)), rows=rows)
        hops = diffuse(classification_of(graph), {"s": (operator, 2)}, LocalEngine(reorder=reorder), store)
        stored[reorder] = hops.arrays["train"]
    for plain, reordered in zip(stored[False], stored[True], strict=True):
        assert (plain == reordered).all()
