"""Only rows that something reads are computed."""

import numpy as np
import pytest
from common.graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

from sign.diffusion.needed_rows import needed_rows
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.operators.directed import DirectedAdjacency
from sign.operators.heat import HeatKernel
from sign.testing import path

ADJACENCY = NormalizedAdjacency()
MATRICES = [ADJACENCY, NormalizedAdjacency("row"), DirectedAdjacency()]


def reachable(matrix: Matrix, used: np.ndarray, steps: int) -> set[int]:
    """The nodes that are exactly ``steps`` entries of the matrix away from a used one."""
    entries = (matrix.to_scipy().toarray() != 0).astype(np.int64)
    walks = np.linalg.matrix_power(entries, steps)[used]
    return set(np.flatnonzero(walks.any(axis=0)).tolist())


@given(graph=graphs(), data=st.data())
def test_needed_rows_are_those_within_reach_of_the_used_ones(graph: Graph, data: st.DataObject) -> None:
    operator = data.draw(st.sampled_from(MATRICES))
    used = np.array(sorted(data.draw(st.sets(st.integers(0, graph.nodes - 1), min_size=1))), np.int64)
    wanted = data.draw(st.sets(st.integers(1, 4), min_size=1))
    start = data.draw(st.integers(0, min(wanted) - 1))
    matrix = operator.matrix(graph)
    needed, copied = needed_rows(operator, matrix, used, wanted, start)
    assert not copied
    assert list(needed) == list(range(start + 1, max(wanted) + 1))
    computed_fully = False
    for power, rows in reversed(needed.items()):
        expected = set().union(*(reachable(matrix, used, later - power) for later in wanted if later >= power))
        if rows is None:  # all rows: once a power has them, so have those before it
            assert computed_fully or len(expected) == graph.nodes
            computed_fully = True
        else:
            assert not computed_fully
            assert rows.tolist() == sorted(expected)


def test_needed_rows_shrink_towards_the_last_power() -> None:
    needed, _ = needed_rows(ADJACENCY, ADJACENCY.matrix(path(9)), np.array([4]), {3}, 0)
    assert {power: rows.tolist() for power, rows in needed.items() if rows is not None} == {
        1: [2, 3, 4, 5, 6],
        2: [3, 4, 5],
        3: [4],
    }


@pytest.mark.parametrize(("operator", "used"), [(ADJACENCY, None), (HeatKernel(), np.array([4]))])
def test_all_rows_are_needed_if_all_are_used_or_a_power_is_several_products(
    operator: Operator, used: np.ndarray | None
) -> None:
    assert needed_rows(operator, operator.matrix(path(9)), used, {2}, 0) == ({1: None, 2: None}, {})
