"""Weights are combined per edge, whatever the order and the direction in which a file lists them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.custom.adjacency import build_adjacency
from sign.datasets.custom.edges import Edges
from sign.errors import SignError
from sign.graph.csr import Combine

NODES = 4
IDS = np.array(["ann", "bob", "eve", "tom"])
Listing = tuple[int, int, float]
node = st.integers(0, NODES - 1)
listings = st.lists(st.tuples(node, node, st.sampled_from([0.5, 1.0, 1.0, 3.0])), min_size=1, max_size=12)
FUNCTIONS = {"mean": lambda weights: sum(weights) / len(weights), "max": max, "sum": sum}


def edges_of(listed: list[Listing]) -> Edges:
    source, target, weights = (np.array(column) for column in zip(*listed, strict=True))
    return Edges(source, target, weights.astype(np.float32), Path("edges.csv"))


def reference(listed: list[Listing], directed: bool, combine: Combine) -> dict[tuple[int, int], float] | None:
    """Weights of ordered pairs by dictionaries; None if weights differ that must be equal."""
    arcs: dict[tuple[int, int], list[float]] = {}
    for source, target, weight in listed:
        arcs.setdefault((source, target), []).append(weight)
    if combine == "error":
        for (source, target), weights in arcs.items():
            if len({*weights, *(() if directed else arcs.get((target, source), ()))}) > 1:
                return None
    function = FUNCTIONS.get(combine, max)
    combined = {arc: function(weights) for arc, weights in arcs.items()}
    if directed:
        return combined
    both = {}
    for source, target in combined:
        pair = [combined[arc] for arc in {(source, target), (target, source)} if arc in combined]
        both[source, target] = both[target, source] = pair[0] if len(set(pair)) == 1 else function(pair)
    return both


@given(listed=listings, directed=st.booleans(), combine=st.sampled_from(["error", "mean", "max", "sum"]))
def test_weights_are_those_of_a_dictionary(listed: list[Listing], directed: bool, combine: Combine) -> None:
    expected = reference(listed, directed, combine)
    if expected is None:
        with pytest.raises(SignError, match=r"edges.csv: the edge .* is listed with different weights, such as"):
            build_adjacency(edges_of(listed), NODES, directed, combine, IDS)
        return
    csr = build_adjacency(edges_of(listed), NODES, directed, combine, IDS)
    matrix = np.zeros((NODES, NODES))
    for arc, weight in expected.items():
        matrix[arc] = weight
    np.testing.assert_allclose(csr.to_scipy().toarray(), matrix, rtol=1e-6)
    assert csr.listed_edges == len(listed)
    assert directed or csr.is_symmetric()


def test_a_pair_listed_both_ways_is_one_edge_whatever_the_others_are() -> None:
    csr = build_adjacency(edges_of([(0, 1, 2), (1, 0, 2), (1, 2, 3)]), 3, False, "error", None)
    assert csr.to_scipy().toarray().tolist() == [[0, 2, 0], [2, 0, 3], [0, 3, 0]]


@pytest.mark.parametrize(
    ("listed", "directed", "edge"),
    [
        ([(0, 1, 2), (1, 0, 5), (1, 2, 3), (2, 1, 3)], False, "between `ann` and `bob`"),
        ([(0, 1, 2), (2, 1, 2), (2, 1, 5)], False, "between `eve` and `bob`"),
        ([(0, 1, 7), (2, 2, 2), (2, 2, 5)], False, "between `eve` and `eve`"),
        ([(0, 1, 2), (1, 0, 5), (2, 1, 2), (2, 1, 5)], True, "from `eve` to `bob`"),
    ],
)
def test_different_weights_are_an_error_that_names_the_edge(listed: list[Listing], directed: bool, edge: str) -> None:
    message = f"the edge {edge} is listed with different weights, such as 2 and 5; .* dataset.combine=mean, max or sum"
    with pytest.raises(SignError, match=message):
        build_adjacency(edges_of(listed), 3, directed, "error", IDS)


def test_weights_that_differ_by_rounding_are_equal() -> None:
    csr = build_adjacency(edges_of([(0, 1, 1 / 3), (1, 0, 1 / 3 + 1e-7), (1, 2, 1)]), 3, False, "error", None)
    assert csr.to_scipy().toarray()[0, 1] == csr.to_scipy().toarray()[1, 0] == pytest.approx(1 / 3)


def test_a_duplicate_of_equal_weight_is_reported_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sign")
    assert build_adjacency(edges_of([(0, 1, 2), (0, 1, 2)]), 2, False, "error", None).to_scipy().toarray()[0, 1] == 2
    assert "1 edges are listed again in the same direction and with the same weight; each counts once" in caplog.text
    assert build_adjacency(edges_of([(0, 1, 2), (0, 1, 2)]), 2, False, "sum", None).to_scipy().toarray()[0, 1] == 4
