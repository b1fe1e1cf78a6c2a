"""Non-backtracking walks equal their recurrence, and enumeration on graphs that can be drawn."""

from pathlib import Path

import numpy as np
import pytest
from common.graphs import applied, assert_equivariant, dense_undirected, graphs, row_normalized
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.graph.csr import CSR
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.operators.non_backtracking import NonBacktrackingWalks
from sign.operators.walk_ends import walk_ends
from sign.system import arrays
from sign.testing import graph_of, path


def formula(graph: Graph, length: int) -> np.ndarray:
    """The alternating recurrence of the docstring, rows normalised; rounding below 1e-9 is zero."""
    weights = dense_undirected(graph)
    np.fill_diagonal(weights, 0)
    walks = [np.eye(graph.nodes)]
    for k in range(1, length + 1):
        corrections = [weights**m if m % 2 else np.diag((weights**m).sum(axis=1)) for m in range(1, k + 1)]
        walks.append(sum((-1) ** m * walks[k - 1 - m] @ corrections[m] for m in range(k)))
    return row_normalized(np.where(np.abs(walks[length]) < 1e-9, 0, walks[length]))


@given(graph=graphs(), length=st.integers(1, 4))
def test_it_equals_the_dense_recurrence(graph: Graph, length: int) -> None:
    np.testing.assert_allclose(applied(NonBacktrackingWalks(length), graph), formula(graph, length), atol=1e-5)


@given(graph=graphs())
def test_rows_sum_to_one_or_are_empty_and_renumbering_renumbers(graph: Graph) -> None:
    sums = applied(NonBacktrackingWalks(3), graph).sum(axis=1)
    assert np.all((np.abs(sums - 1) < 1e-5) | (sums == 0))
    assert_equivariant(NonBacktrackingWalks(3), graph)


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_on_a_ring_a_walk_goes_either_way(length: int) -> None:
    ring = graph_of([(i, (i + 1) % 10) for i in range(10)], 10)
    row = applied(NonBacktrackingWalks(length), ring)[0]
    assert np.flatnonzero(row).tolist() == sorted({length, 10 - length})


def test_a_hub_with_leaves_has_exact_zeros() -> None:
    """A² - D in single precision would leave rounding errors of the many walks to the leaves and back."""
    star = graph_of([*((0, leaf) for leaf in range(1, 3000)), (1, 3000)], 3001)
    row = walk_ends(star.adjacency, 2, 0).to_scipy()[[0]].toarray()[0]
    assert np.flatnonzero(row).tolist() == [3000]
    assert not walk_ends(path(2).adjacency, 2, 0).entries


def test_top_k_keeps_the_largest_and_of_equal_ones_the_first() -> None:
    weights = np.array([1, 1, 1, 5, 2, 2], np.float32)
    fork = graph_of([(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)], 7, weights)
    kept = walk_ends(fork.adjacency, 2, 2).to_scipy()[[0]]
    assert (kept.indices.tolist(), kept.data.tolist()) == ([4, 5], [5, 2])


@pytest.mark.parametrize("top_k", [0, 3])
def test_mapped_arrays_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, top_k: int) -> None:
    csr = remove_self_loops(Communities(nodes=200, edges=700).load().undirected)
    whole = walk_ends(csr, 2, top_k)
    np.save(tmp_path / "indices", csr.indices)
    mapped = CSR(csr.indptr, np.load(tmp_path / "indices.npy", mmap_mode="r+"))
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100)
    assert walk_ends(mapped, 2, top_k).digest == whole.digest
    assert whole.is_canonical()
