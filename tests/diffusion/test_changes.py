"""Rows that are the same in an earlier version of a graph are copied, and no bit differs from computing them."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import Powers, diffuse
from sign.engines.base import Engine
from sign.engines.local.engine import LocalEngine
from sign.engines.torch import TorchEngine
from sign.graph.classification import NodeClassification, full_scope
from sign.graph.csr import CSR
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.directed import DirectedAdjacency
from sign.operators.heat import HeatKernel
from sign.operators.laplacian import Laplacian
from sign.operators.ppr import PersonalizedPageRank
from sign.operators.triangle import TriangleAdjacency
from sign.store.store import NODE_DIGESTS, Store
from sign.testing import graph_of

ADJACENCY = NormalizedAdjacency()
POWERS: Powers = {
    "p": (ADJACENCY, 3),
    "d": (DirectedAdjacency(), 2),
    "t": (TriangleAdjacency(), 2),
    "l": (Laplacian(), 1),
    "s": (PersonalizedPageRank("push", alpha=0.5, epsilon=0.01), 1),
}
ENGINE = LocalEngine(threads=1)


def hops_of(
    graph: Graph, root: Path, nodes: np.ndarray | None, powers: Powers, engine: Engine = ENGINE,
    dtype: str = "float32",
) -> Hops:  # fmt: skip
    scaling = FeatureScaling("none")
    scope = full_scope(graph, scaling, {"all": np.arange(graph.nodes) if nodes is None else nodes})
    task = NodeClassification(graph.name, "", 2, False, {}, [scope], scaling)
    return diffuse(task, powers, engine, Store(str(root), dtype))


def assert_same_bits(found: Hops, expected: Hops) -> None:
    assert found.names == expected.names
    for number, name in enumerate(found.names):
        ours, theirs = (hops.arrays["all"][number][hops.rows["all"][number]] for hops in (found, expected))
        np.testing.assert_array_equal(ours, theirs, err_msg=name, strict=True)


@st.composite
def versions(draw: st.DrawFn) -> tuple[Graph, Graph]:
    """Two versions of a small graph: nodes and edges come and go, features and weights change, ids keep their nodes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes, weighted, directed = draw(st.integers(2, 14)), draw(st.booleans()), draw(st.booleans())
    shuffled, numbered = draw(st.booleans()), draw(st.booleans())
    features = rng.standard_normal((nodes, 5)).astype(np.float32)
    edges = {tuple(sorted(map(int, pair))): 1.0 for pair in rng.integers(0, nodes, (2 * nodes, 2))}
    pair = []
    for _ in range(2):
        kept = np.arange(nodes) if rng.random() < 0.5 else np.sort(rng.permutation(nodes)[: max(1, nodes - 2)])
        kept = rng.permutation(kept) if shuffled else kept
        place = {int(node): position for position, node in enumerate(kept)}
        listed = [(u, v) for u, v in edges if u in place and v in place and rng.random() < 0.95]
        weights = np.array([2.0 if rng.random() < 0.05 else 1.0 for _ in listed], np.float32) if weighted else None
        own = features[kept] + np.where(rng.random((len(kept), 1)) < 0.1, 1, 0).astype(np.float32)
        graph = graph_of([(place[u], place[v]) for u, v in listed], len(kept), weights, own, directed)
        ids = kept if numbered else np.array([f"node {node}" for node in kept], np.dtypes.StringDType())
        pair.append(replace(graph, node_ids=ids))
    return pair[0], pair[1]


@given(
    pair=versions(),
    letter=st.sampled_from([*POWERS]),
    some=st.booleans(),
    dtype=st.sampled_from(["float32", "float16"]),
)
def test_hops_of_a_changed_graph_have_the_bits_of_a_full_computation(
    pair: tuple[Graph, Graph], letter: str, some: bool, dtype: str
) -> None:
    earlier, now = pair
    powers = {letter: POWERS[letter]}
    nodes = np.arange(0, now.nodes, 2) if some else None
    with TemporaryDirectory() as folder:
        hops_of(earlier, Path(folder) / "store", None, powers, dtype=dtype)
        ours = hops_of(now, Path(folder) / "store", nodes, powers, dtype=dtype)
        expected = hops_of(now, Path(folder) / "empty", nodes, powers, dtype=dtype)
        assert_same_bits(ours, expected)
        assert ours.rows_computed <= expected.rows_computed


def dense_changes(earlier: Graph, now: Graph, powers: int) -> int:
    """The rows of all powers that can differ, by the definition; nodes are those of ``earlier``, and new ones."""
    before, after = (ADJACENCY.matrix(graph).to_scipy().toarray() for graph in (earlier, now))
    padded = np.zeros_like(after)
    padded[: len(before), : len(before)] = before
    entries = (padded != after).any(axis=1)
    entries[len(before) :] = True
    changed = np.ones(now.nodes, bool)
    changed[: len(before)] = (earlier.features != now.features[: len(before)]).any(axis=1)
    total = 0
    for _ in range(powers):
        changed = entries | (after[:, changed] != 0).any(axis=1)
        total += np.count_nonzero(changed)
    return total


@pytest.fixture
def pair() -> tuple[Graph, Graph]:
    """A graph, and the same with three more nodes and edges, and other features of one node."""
    drawn = Communities(nodes=500, edges=1000, features=8).load()
    earlier = replace(drawn, train=np.arange(10), val=np.empty(0, np.int64), test=np.empty(0, np.int64))
    rows, columns = earlier.adjacency.row_indices(), earlier.adjacency.indices
    source, target = np.append(rows, [500, 501, 7]), np.append(columns, [3, 4, 9])
    features = np.concatenate([earlier.features, np.ones((3, 8), np.float32)])
    features[42] += 1
    adjacency = CSR.from_edges(source, target, 503, both=True)
    labels = np.append(earlier.labels, [0, 0, 0])
    return earlier, replace(earlier, adjacency=adjacency, features=features, labels=labels)


def test_no_row_is_computed_that_cannot_have_changed(
    pair: tuple[Graph, Graph], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    earlier, now = pair
    powers: Powers = {"p": (ADJACENCY, 3)}
    hops_of(earlier, tmp_path / "store", None, powers)
    ours = hops_of(now, tmp_path / "store", None, powers)
    assert_same_bits(ours, hops_of(now, tmp_path / "empty", None, powers))
    assert ours.rows_computed == dense_changes(earlier, now, 3) < 3 * now.nodes / 2
    (message,) = (text for text in caplog.messages if "can differ" in text)
    first = dense_changes(earlier, now, 1) / now.nodes
    assert f"full graph: rows that can differ from {now.name}/" in message
    assert f"are computed: p1 {first:.2%}, p2" in message


def test_the_version_with_the_most_rows_in_common_is_used(pair: tuple[Graph, Graph], tmp_path: Path) -> None:
    earlier, now = pair
    powers: Powers = {"p": (ADJACENCY, 1)}
    hops_of(earlier, tmp_path, None, powers)
    hops_of(replace(now, features=now.features + 1), tmp_path, None, powers)  # used later, but nothing is the same
    assert hops_of(now, tmp_path, None, powers).rows_computed == dense_changes(earlier, now, 1)


def test_operators_of_several_products_and_other_engines_compute_all_rows(
    pair: tuple[Graph, Graph], tmp_path: Path
) -> None:
    earlier, now = pair
    for powers, engine in (({"h": (HeatKernel(), 1)}, ENGINE), ({"p": (ADJACENCY, 2)}, TorchEngine())):
        hops_of(earlier, tmp_path, None, powers, engine=engine)
        assert hops_of(now, tmp_path, None, powers, engine=engine).rows_saved == 0
    # what torch computed is no source for the local engine either: its sums differ in the last bits
    hops_of(earlier, tmp_path, None, {"p": (ADJACENCY, 3)})  # p3, from torch's p2
    assert hops_of(replace(now, name="other"), tmp_path, None, {"p": (ADJACENCY, 3)}).rows_saved == 0


def test_a_graph_that_has_not_changed_is_copied_under_another_name(pair: tuple[Graph, Graph], tmp_path: Path) -> None:
    hops_of(pair[0], tmp_path, None, {"p": (ADJACENCY, 2)})
    again = hops_of(replace(pair[0], name="copy"), tmp_path, None, {"p": (ADJACENCY, 2)})
    assert (again.rows_computed, again.rows_saved) == (0, 1000)


@pytest.mark.parametrize("damage", ["missing", "truncated", "changed"])
def test_damaged_digests_are_not_used(pair: tuple[Graph, Graph], tmp_path: Path, damage: str) -> None:
    earlier, now = pair
    powers: Powers = {"p": (ADJACENCY, 1)}
    hops_of(earlier, tmp_path, None, powers)
    (file,) = tmp_path.rglob(f"{NODE_DIGESTS}.npy")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes({"missing": b"", "truncated": content[:-8], "changed": content}[damage])
    if damage == "missing":
        file.unlink()
    assert hops_of(now, tmp_path, None, powers).rows_saved == 0


def test_higher_powers_continue_from_those_of_the_same_graph(pair: tuple[Graph, Graph], tmp_path: Path) -> None:
    earlier, now = pair
    hops_of(earlier, tmp_path / "store", None, {"p": (ADJACENCY, 3)})
    hops_of(now, tmp_path / "store", None, {"p": (ADJACENCY, 1)})
    ours = hops_of(now, tmp_path / "store", None, {"p": (ADJACENCY, 3)})
    assert_same_bits(ours, hops_of(now, tmp_path / "empty", None, {"p": (ADJACENCY, 3)}))
    assert 0 < ours.rows_computed == dense_changes(earlier, now, 3) - dense_changes(earlier, now, 1)
    (folder,) = {hop.folder.path for hop in ours.every if hop.name == "p3"}
    recorded = json.loads((folder / "manifest.json").read_text())["hops"].values()
    assert len({entry[NODE_DIGESTS] for entry in recorded}) == 1
