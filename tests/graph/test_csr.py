"""CSR matrices equal those of dense numpy and scipy, in memory and in memory maps."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sign.errors import SignError
from sign.graph.csr import CSR, index_type
from sign.graph.csr_transforms import (
    clear_other_rows,
    drop_edges,
    induced_subgraph,
    merge_directions,
    remove_self_loops,
    symmetrize,
)
from sign.system import arrays, memory

NODES = 12
node = st.integers(0, NODES - 1)
edge_lists = st.lists(st.tuples(node, node), max_size=60)


@pytest.fixture(params=["memory", "maps"])
def storage(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Everything in memory; or nothing, in windows of a few entries."""
    if request.param == "memory":
        yield
        return
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 64)
    with memory.limit(0, tmp_path):
        yield


def dense(csr: CSR) -> np.ndarray:
    return csr.to_scipy().toarray()


def assert_canonical(csr: CSR) -> None:
    for i in range(csr.nodes):
        assert (np.diff(csr.indices[csr.indptr[i] : csr.indptr[i + 1]]) > 0).all()


@given(edges=edge_lists, weighted=st.booleans(), both=st.booleans())
@pytest.mark.usefixtures("storage")
def test_edges_become_rows(edges: list[tuple[int, int]], weighted: bool, both: bool) -> None:
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    weights = np.arange(1, len(edges) + 1, dtype=np.float32) if weighted else None
    csr = CSR.from_edges(source, target, NODES, weights, both)
    expected = np.zeros((NODES, NODES))
    for number, (i, j) in enumerate(edges):
        ends = {(i, j), (j, i)} if both else {(i, j)}
        for a, b in ends:
            expected[a, b] = expected[a, b] + number + 1 if weighted else 1
    assert (dense(csr) == expected).all()
    assert (csr.weights is None) == (not weighted)
    assert_canonical(csr)


@given(edges=edge_lists, weighted=st.booleans(), chosen=st.permutations(range(NODES)), size=node)
@pytest.mark.usefixtures("storage")
def test_rows_are_transposed_joined_chosen_and_induced(
    edges: list[tuple[int, int]], weighted: bool, chosen: list[int], size: int
) -> None:
    source, target = np.array(edges, np.int64).reshape(-1, 2).T
    weights = np.linspace(0.5, 2, len(edges), dtype=np.float32) if weighted else None
    csr = CSR.from_edges(source, target, NODES, weights)
    full = dense(csr)
    nodes = np.array(chosen[:size], np.int64)
    np.testing.assert_array_equal(dense(csr.transposed), full.T)
    np.testing.assert_allclose(dense(symmetrize(csr)), (full + full.T) / 2, rtol=1e-6)
    np.testing.assert_array_equal(dense(remove_self_loops(csr)), full * (1 - np.eye(NODES)))
    np.testing.assert_array_equal(dense(induced_subgraph(csr, nodes)), full[np.ix_(nodes, nodes)])
    np.testing.assert_allclose(csr.row_sums, full.sum(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(csr.column_mask(np.sort(nodes)), (full[nodes] != 0).any(axis=0))
    np.testing.assert_array_equal(dense(clear_other_rows(csr, np.sort(nodes)))[nodes], full[nodes])
    assert csr.self_loops == np.count_nonzero(full.diagonal())
    if weighted:
        np.testing.assert_array_equal(dense(merge_directions(csr, "max")), np.maximum(full, full.T))
    assert csr.is_symmetric() == np.allclose(full, full.T, rtol=1e-5, atol=0)
    for built in (csr.transposed, symmetrize(csr), induced_subgraph(csr, nodes)):
        assert_canonical(built)


def test_a_share_of_edges_is_left_out_with_its_reverse() -> None:
    rng = np.random.default_rng(0)
    csr = CSR.from_edges(*rng.integers(0, 300, (2, 5000)), 300, both=True)
    less = drop_edges(csr, 0.4, seed=1)
    assert abs(1 - less.entries / csr.entries - 0.4) < 0.03
    assert less.is_symmetric()
    assert less.digest != drop_edges(csr, 0.4, seed=2).digest


def test_weights_that_differ_by_direction_are_not_symmetric() -> None:
    source, target = np.array([0, 1]), np.array([1, 0])
    assert CSR.from_edges(source, target, 2, np.array([1.0, 1.0])).is_symmetric()
    assert not CSR.from_edges(source, target, 2, np.array([1.0, 1.1])).is_symmetric()


def test_mapped_edges_give_the_same_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 1000)
    edges = np.random.default_rng(0).integers(0, 200, (2, 3000)).astype(np.int32)
    np.save(tmp_path / "edges", edges)
    source, target = np.load(tmp_path / "edges.npy", mmap_mode="r")
    assert CSR.from_edges(source, target, 200).digest == CSR.from_edges(*edges, 200).digest


def test_it_is_what_scipy_builds() -> None:
    source, target = np.random.default_rng(0).integers(0, 1000, (2, 20_000))
    ones = np.ones(len(source), np.float32)
    theirs = CSR.from_scipy(scipy.sparse.coo_array((ones, (source, target)), (1000, 1000)).tocsr(), weighted=False)
    assert CSR.from_edges(source, target, 1000).digest == theirs.digest


@pytest.mark.parametrize(
    ("wrong", "message"), [(-1, "refers to node -1"), (5, "node 5, but nodes are numbered 0 to 4")]
)
def test_edges_of_nodes_that_do_not_exist(wrong: int, message: str) -> None:
    with pytest.raises(SignError, match=message):
        CSR.from_edges(np.array([0, 1]), np.array([2, wrong]), 5)


def test_indices_are_int32_where_they_can_be() -> None:
    assert index_type(2**31 - 1) == np.int32
    assert index_type(2**31) == np.int64


def test_a_matrix_that_is_no_graph_is_refused() -> None:
    with pytest.raises(SignError, match="of shape"):
        CSR.from_scipy(scipy.sparse.csr_array((3, 4)))
    with pytest.raises(SignError, match="edges of type float64"):
        CSR.from_edges(np.array([0.5]), np.array([1.0]), 3)
    for indices in ([1, 7], [1, 0], [1, 1], [-1, 0]):
        assert not CSR(np.array([0, 2, 2, 2]), np.array(indices, np.int32)).is_canonical()
    assert CSR(np.array([0, 2, 2, 2]), np.array([0, 1], np.int32)).is_canonical()
