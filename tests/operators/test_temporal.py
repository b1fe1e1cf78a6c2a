"""Temporal motifs equal their enumeration, and respect time, window and the inductive protocol."""

from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from common.graphs import applied, row_normalized
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.edge_data import TimedEdges
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.temporal import TemporalMotifs
from sign.operators.temporal_counts import count_triangles
from sign.store.store import Store
from sign.system import arrays
from sign.testing import path


@st.composite
def temporal_graphs(draw: st.DrawFn) -> Graph:
    """Small graphs whose edges are listed with a few times, some of them equal, with duplicates and self-loops."""
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    listed = draw(st.lists(st.tuples(node, node, st.integers(0, 6)), max_size=14))
    source, target, times = np.array(listed, np.int64).reshape(-1, 3).T
    return Graph.from_edges((source, target), np.eye(nodes), edge_times=times / 2, directed=draw(st.booleans()))


def events(graph: Graph) -> list[tuple[int, int, float]]:
    """All timed edges but self-loops, in both directions if the graph is undirected."""
    timed = graph.edge_times
    rows = np.repeat(np.arange(graph.nodes), np.diff(timed.indptr))
    return [(u, v, t) for u, v, t in zip(rows, timed.targets, timed.times, strict=True) if u != v]


def formula(graph: Graph, motif: str, window: float) -> np.ndarray:
    """Every pair or triple of timed edges is tried."""
    counts = np.zeros((graph.nodes, graph.nodes))
    if motif == "two_path":
        for (i, k, first), (k2, j, second) in product(events(graph), repeat=2):
            counts[i, j] += k == k2 and i != j and first < second <= first + window
    else:
        for (u, v, first), (v2, w, second), (w2, u2, third) in permutations(events(graph), 3):
            if v == v2 and w == w2 and u == u2 and first < second < third <= first + window:
                for ends in ((u, v), (v, w), (w, u)):
                    counts[ends] += 1
    return row_normalized(counts if graph.directed else counts + counts.T)


@pytest.mark.parametrize("motif", ["two_path", "triangle"])
@given(graph=temporal_graphs(), window=st.sampled_from([0.0, 0.5, 1.5, 10.0]))
def test_it_equals_the_enumeration(motif: str, graph: Graph, window: float) -> None:
    expected = formula(graph, motif, window)
    np.testing.assert_allclose(applied(TemporalMotifs(motif, window), graph), expected, atol=1e-6)


@pytest.mark.parametrize("motif", ["two_path", "triangle"])
def test_transposed_counts_against_the_direction(motif: str) -> None:
    edges, times = np.array([[0, 1], [1, 2], [2, 0], [1, 3]]), [1, 2, 3, 2]
    graph = Graph.from_edges(edges, np.eye(4), edge_times=times, directed=True)
    forward = applied(TemporalMotifs(motif, 5.0), graph) > 0
    assert (applied(TemporalMotifs(motif, 5.0, transposed=True), graph) > 0).tolist() == forward.T.tolist()
    assert forward.sum() == (4 if motif == "two_path" else 3) - (motif == "two_path")


def test_a_triangle_against_time_is_none() -> None:
    edges = np.array([[0, 1], [1, 2], [2, 0]])
    ordered = Graph.from_edges(edges, np.eye(3), edge_times=[1, 2, 3], directed=True)
    assert count_triangles(ordered.edge_times, 2.0).to_scipy().toarray().tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    reverse = Graph.from_edges(edges, np.eye(3), edge_times=[3, 2, 1], directed=True)
    assert not count_triangles(reverse.edge_times, 2.0).entries
    assert not count_triangles(ordered.edge_times, 1.5).entries


def test_large_times_are_compared_exactly() -> None:
    """Seconds since 1970 need double precision."""
    edges, start = np.array([[0, 1], [1, 2]]), 1_700_000_000
    graph = Graph.from_edges(edges, np.eye(3), edge_times=[start, start + 10], directed=True)
    assert applied(TemporalMotifs(window=10.0), graph)[0].tolist() == [0, 0, 1]
    assert not applied(TemporalMotifs(window=9.0), graph).any()


def test_mapped_arrays_change_no_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 40, (2, 600))
    timed = TimedEdges.from_edges(source, target, rng.integers(0, 50, 600).astype(float), 40, both=True)
    expected = count_triangles(timed, 10.0)
    assert expected.is_canonical()
    for name in ("targets", "times"):
        np.save(tmp_path / name, getattr(timed, name))
    targets, times = (np.load(tmp_path / f"{name}.npy", mmap_mode="r+") for name in ("targets", "times"))
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100)
    assert count_triangles(TimedEdges(timed.indptr, targets, times), 10.0).digest == expected.digest


def timed_communities(shift: float, inductive: bool = False) -> Graph:
    """Communities with times, which of edges to held-out nodes are shifted."""
    graph = Communities(nodes=200, edges=900, inductive=inductive).load()
    rows, columns = graph.adjacency.row_indices(), graph.adjacency.indices
    times = (rows.astype(float) * columns) % 17
    times += shift * ~(np.isin(rows, graph.train) & np.isin(columns, graph.train))
    data = {split: getattr(graph, split) for split in ("train", "val", "test")}
    return Graph.from_edges(
        (rows, columns), graph.features, graph.labels, edge_times=times, inductive=inductive, **data
    )


def test_times_of_held_out_edges_reach_no_training_row(tmp_path: Path) -> None:
    powers = {"p": (TemporalMotifs(window=5.0), 2)}
    found = [
        diffuse(
            classification_of(timed_communities(shift, True)), powers, LocalEngine(), Store(str(tmp_path / f"{shift}"))
        )
        for shift in (0.0, 3.0)
    ]
    for ours, theirs in zip(*(hops.arrays["train"] for hops in found), strict=True):
        assert (ours == theirs).all()
    assert (np.array(found[0].arrays["test"][1]) != found[1].arrays["test"][1]).any()


def test_other_times_are_other_hops_of_this_operator_alone(tmp_path: Path) -> None:
    powers = {"p": (NormalizedAdjacency(), 1), "m": (TemporalMotifs("triangle", 5.0), 1)}
    diffuse(classification_of(timed_communities(0.0)), powers, LocalEngine(), Store(str(tmp_path)))
    changed = diffuse(classification_of(timed_communities(3.0)), powers, LocalEngine(), Store(str(tmp_path)))
    assert [hop.name for hop in changed.every if not hop.found] == ["m1"]


def test_a_graph_without_times_is_an_error() -> None:
    with pytest.raises(SignError, match=r"its edges have no times, .* dataset.edge_time"):
        TemporalMotifs().matrix(path(3))
