"""Hops are right, computed once, and keep held-out nodes out of training."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from common.graphs import graphs, partly_used, rows_of
from common.paths import REPOSITORY
from hypothesis import given

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.diffusion.precompute import diffuse
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.csr import CSR
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.directed import DirectedAdjacency
from sign.operators.heat import HeatKernel
from sign.operators.ppr import PersonalizedPageRank
from sign.operators.triangle import TriangleAdjacency
from sign.store.store import Store
from sign.system import arrays, memory
from sign.testing import graph_of

ADJACENCY = NormalizedAdjacency()


def run(graph: Graph, folder: Path, power: int = 3, feature_scaling: str = "none", **store: str) -> Hops:
    classification = classification_of(graph, feature_scaling)
    return diffuse(classification, {"p": (ADJACENCY, power)}, LocalEngine(), Store(str(folder), **store))


@given(graph=graphs())
def test_hops_equal_the_dense_formula(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    hops = run(graph, tmp_path_factory.mktemp("store"))
    matrix = ADJACENCY.matrix(graph).to_scipy().toarray().astype(np.float64)
    assert hops.names == ["X", "p1", "p2", "p3"]
    for power, array in enumerate(hops.arrays["train"]):
        expected = np.linalg.matrix_power(matrix, power) @ graph.features
        np.testing.assert_allclose(array, expected, atol=1e-5)


def test_the_log_names_the_time_of_this_run_and_the_part_that_the_hops_cost(tmp_path: Path) -> None:
    graph = Communities(nodes=300, edges=1000).load()
    first, second = run(graph, tmp_path, 2), run(graph, tmp_path, 2)
    spent = f"took {first.seconds:.2f} s, {first.cost:.2f} s of it for products and writing"
    assert str(first) == f"3 hop arrays computed with 2 products, 0 found in the store; {spent}"
    assert str(second) == f"0 hop arrays computed, 3 found in the store; took {second.seconds:.2f} s"
    assert second.cost == pytest.approx(first.cost, abs=1e-3)  # what the summary of a run shows


def test_a_higher_power_computes_only_what_is_missing(tmp_path: Path) -> None:
    graph = Communities(nodes=300, edges=1000).load()
    assert (run(graph, tmp_path, 4).computed, run(graph, tmp_path, 4).computed) == (5, 0)
    more = run(graph, tmp_path, 5)
    assert (more.computed, more.found) == (1, 5)
    fresh = run(graph, tmp_path / "fresh", 5)
    for ours, anew in zip(more.arrays["test"], fresh.arrays["test"], strict=True):
        assert (ours == anew).all()


def test_labels_and_split_do_not_change_hops_but_content_does(tmp_path: Path) -> None:
    graph = Communities(nodes=300, edges=1000).load()
    run(graph, tmp_path)
    assert run(replace(graph, train=graph.val, val=graph.train), tmp_path).computed == 0
    features = graph.features.copy()
    features[0, 0] += 1
    assert run(replace(graph, features=features), tmp_path).computed == 4
    other = Communities(nodes=300, edges=1000, seed=1).load()
    assert run(replace(graph, adjacency=other.adjacency), tmp_path).found == 1  # the features alone


def test_a_damaged_hop_is_computed_again(tmp_path: Path) -> None:
    graph = Communities(nodes=300, edges=1000).load()
    before = [np.array(array) for array in run(graph, tmp_path).arrays["train"]]
    (broken,) = tmp_path.rglob("hop-2.npy")
    broken.write_bytes(b"")
    again = run(graph, tmp_path)
    assert (again.computed, again.found) == (1, 3)
    for old, new in zip(before, again.arrays["train"], strict=True):
        assert (old == new).all()


@pytest.mark.parametrize("scaling", ["none", "row_sum", "standardize"])
def test_nothing_of_a_held_out_node_reaches_a_training_row(tmp_path: Path, scaling: str) -> None:
    graph = Communities(nodes=300, edges=1000, inductive=True).load()
    rng = np.random.default_rng(0)
    features = graph.features.copy()
    held_out = np.r_[graph.val, graph.test]
    features[held_out] = rng.standard_normal((len(held_out), features.shape[1])) * 100
    changed = replace(graph, features=features, adjacency=rewired(graph, rng))
    ours = run(graph, tmp_path / "a", feature_scaling=scaling)
    theirs = run(changed, tmp_path / "b", feature_scaling=scaling)
    for clean, other in zip(ours.arrays["train"], theirs.arrays["train"], strict=True):
        assert (clean == other).all()
    assert (np.array(ours.arrays["test"][1]) != theirs.arrays["test"][1]).any()


def rewired(graph: Graph, rng: np.random.Generator) -> CSR:
    """Every edge that touches a held-out node is replaced by a random one that does, too."""
    training = np.zeros(graph.nodes, bool)
    training[graph.train] = True
    edges = graph.adjacency.to_scipy().tocoo()
    kept = training[edges.row] & training[edges.col]
    source = rng.choice(np.flatnonzero(~training), (~kept).sum() // 2)
    target = rng.integers(0, graph.nodes, len(source))
    return CSR.from_edges(np.r_[edges.row[kept], source, target], np.r_[edges.col[kept], target, source], graph.nodes)


def test_inductive_rows_come_from_the_graph_of_their_split(tmp_path: Path) -> None:
    graph = Communities(nodes=200, edges=700, inductive=True).load()
    hops = run(graph, tmp_path, 2)
    inner = ADJACENCY.matrix(graph.induced_by_training()).to_scipy().toarray()
    outer = ADJACENCY.matrix(graph).to_scipy().toarray()
    train = hops.arrays["train"][2][hops.rows["train"][2]]
    np.testing.assert_allclose(train, inner @ inner @ graph.features[graph.train], atol=1e-5)
    test = hops.arrays["test"][2][hops.rows["test"][2]]
    np.testing.assert_allclose(test, (outer @ outer @ graph.features)[graph.test], atol=1e-5)


def test_features_are_scaled_before_diffusion(tmp_path: Path) -> None:
    graph = Communities(nodes=200, edges=700).load()
    (standardized, *_) = run(graph, tmp_path, feature_scaling="standardize").arrays["train"]
    np.testing.assert_allclose(standardized[graph.train].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(standardized[graph.train].std(axis=0), 1, atol=1e-5)
    (summed, *_) = run(graph, tmp_path, feature_scaling="row_sum").arrays["train"]
    np.testing.assert_allclose(np.abs(summed).sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("harm", ["shape", "nan", "factor"])
def test_an_operator_that_goes_wrong_is_named_and_nothing_is_stored(tmp_path: Path, harm: str) -> None:
    @dataclass(frozen=True)
    class Wrong(NormalizedAdjacency):
        def matrix(self, graph: Graph) -> Matrix:
            left = np.ones(3 if harm == "factor" else graph.nodes, np.float32)
            return Matrix(graph.undirected, left=left * np.float32("nan") if harm == "nan" else left)

        def apply(self, matrix, x, product):
            return product(matrix, x)[:5] if harm == "shape" else product(matrix, x)

    graph = Communities(nodes=200, edges=700).load()
    with pytest.raises(SignError, match=r"Wrong|factor"):
        diffuse(classification_of(graph), {"p": (Wrong(), 1)}, LocalEngine(), Store(str(tmp_path)))
    assert not list(tmp_path.rglob("hop-1.npy"))


def test_a_new_operator_needs_no_other_module(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Twice(NormalizedAdjacency):
        factor: float = 2.0

        def apply(self, matrix, x, product):
            return self.factor * product(matrix, x)

    graph = Communities(nodes=200, edges=700).load()
    store = Store(str(tmp_path))
    powers = {"p": (ADJACENCY, 2), "mine": (Twice(), 2)}
    arrays = diffuse(classification_of(graph), powers, LocalEngine(), store).arrays["train"]
    np.testing.assert_allclose(arrays[4], 4 * np.array(arrays[2]), rtol=1e-6)


EVERY = {
    "p": (ADJACENCY, 3),
    "s": (PersonalizedPageRank(), 1),
    "q": (PersonalizedPageRank("push"), 2),
    "t": (TriangleAdjacency(), 2),
    "h": (HeatKernel(), 1),
    "d": (DirectedAdjacency(), 2),
    "f": (DirectedAdjacency(transposed=True), 3),
}


@pytest.mark.parametrize("inductive", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_used_are_the_same_as_of_all_rows(tmp_path: Path, inductive: bool, dtype: str) -> None:
    classification = classification_of(partly_used(inductive=inductive))
    used, every = (
        diffuse(classification, EVERY, LocalEngine(), Store(str(tmp_path / rows), dtype, rows))
        for rows in ("used", "all")
    )
    assert 0 < used.rows_computed < every.rows_computed
    assert every.rows_saved == 0
    assert "% of the rows" in str(used)
    for split in ("train", "val", "test"):
        for ours, theirs in zip(rows_of(used, split), rows_of(every, split), strict=True):
            assert (ours == theirs).all()
    sizes = {array.shape[0] for array in used.arrays["test"]}
    assert sizes == {5 if inductive else 9}


def test_a_higher_power_starts_from_whole_arrays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sign")
    graph, store = partly_used(), tmp_path / "store"
    run(graph, store, 2)
    assert not caplog.messages
    more = run(graph, store, 3)
    assert (more.computed, more.found) == (1, 3)
    assert more.rows_saved > 0
    assert "starting again from the features" in caplog.text
    run(graph, store, 4, rows="all")
    assert (run(graph, store, 4).computed, run(graph, store, 4).found) == (0, 5)
    more = run(graph, store, 5)  # whole arrays up to 4: one product
    assert (more.computed, more.rows_computed) == (1, 9)
    fresh = run(graph, tmp_path / "fresh", 5)
    for ours, anew in zip(rows_of(more, "test"), rows_of(fresh, "test"), strict=True):
        assert (ours == anew).all()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("scaling", ["none", "row_sum", "standardize"])
def test_blocks_of_columns_change_no_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, dtype: str, scaling: str
) -> None:
    classification = classification_of(partly_used(), scaling)
    whole = diffuse(classification, EVERY, LocalEngine(), Store(str(tmp_path / "a"), dtype))
    caplog.set_level("INFO", "sign")
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(memory, "remaining", lambda: 4 * 400 * 2 * 17)  # 17 columns of a product, 5 of a solver
    cut = diffuse(classification, EVERY, LocalEngine(), Store(str(tmp_path / "b"), dtype))
    assert "24 columns of adjacency are computed in 2 blocks of 16" in caplog.text
    assert "24 columns of ppr are computed in 5 blocks of 5" in caplog.text
    for ours, theirs in zip(rows_of(cut, "test"), rows_of(whole, "test"), strict=True):
        assert (ours == theirs).all()


def test_a_budget_that_holds_no_column_is_refused_with_one_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    classification = classification_of(Communities(nodes=100_000, edges=200_000, features=8).load())

    def attempt(budget: str) -> Hops:
        return diffuse(classification, {"p": (ADJACENCY, 1)}, LocalEngine(budget), Store(str(tmp_path)))

    with pytest.raises(SignError, match=r"engine.memory=1MB: the program alone takes"):
        attempt("1MB")
    with monkeypatch.context() as nothing_left:
        nothing_left.setattr(memory, "remaining", lambda: 0)
        with pytest.raises(SignError, match=r"engine.memory=9TB: not enough for one column .* is enough") as refused:
            attempt("9TB")
    enough = re.search(r"([\d.]+ [MG]B) is enough", str(refused.value))[1]
    assert attempt(enough).computed == 1
    assert not list(tmp_path.rglob("*.tmp"))


def test_values_too_large_for_the_stored_type_are_refused(tmp_path: Path) -> None:
    graph = partly_used()
    large = replace(graph, features=graph.features * 1e6)
    with pytest.raises(SignError, match="not finite in float16"):
        run(large, tmp_path, dtype="float16")
    assert not list(tmp_path.rglob("hop-*.npy"))


def test_an_operator_of_two_products_on_a_pushed_matrix(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Twice(PersonalizedPageRank):
        def apply(self, matrix, x, product):
            return product(matrix, product(matrix, x))

    classification = classification_of(partly_used())
    powers = {"q": (PersonalizedPageRank("push"), 2), "w": (Twice("push"), 1)}
    hops = dict(
        zip(
            ["X", "q1", "q2", "w1"],
            rows_of(diffuse(classification, powers, LocalEngine(), Store(str(tmp_path))), "test"),
            strict=True,
        )
    )
    assert (hops["q2"] == hops["w1"]).all()


def test_an_operator_without_a_product(tmp_path: Path) -> None:
    graph = Communities(nodes=40, edges=70, features=3).load()
    hops = diffuse(classification_of(graph), {"h": (HeatKernel(time=0), 1)}, LocalEngine(), Store(str(tmp_path)))
    features, heated = hops.arrays["test"]
    assert (features == heated).all()


def test_a_graph_of_one_node(tmp_path: Path) -> None:
    graph = graph_of([], 1, features=np.ones((1, 2), np.float32))
    hops = diffuse(classification_of(graph), EVERY, LocalEngine(), Store(str(tmp_path)))
    values = dict(zip(hops.names, (array[0, 0] for array in hops.arrays["train"]), strict=True))
    assert values["p3"] == values["s1"] == 1
    assert values["t2"] == values["d1"] == 0


PROGRAM = """
import sys
from sign.system import arrays, memory
from sign.datasets.synthetic.lookalike import Lookalike
from sign.diffusion.precompute import Precomputation
from sign.engines.local.engine import LocalEngine
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.directed import DirectedAdjacency
from sign.store.store import Store

operators = {"p": NormalizedAdjacency(), "d": DirectedAdjacency(), "f": DirectedAdjacency(transposed=True)}
budget = None if sys.argv[1] == "none" else sys.argv[1]
_, hops = Precomputation(
    Lookalike(name="papers", like="ogbn-papers100M", scale=float(sys.argv[3])),
    {letter: (operator, 3) for letter, operator in operators.items()},
    LocalEngine(budget),
    Store(sys.argv[2]),
).run()
print(memory.peak(), *(entry["checksum"] for folder in {hop.folder.path: hop.folder for hop in hops.every}.values()
                       for entry in folder.hops().values()))
"""


@pytest.mark.slow
def test_a_budget_is_kept_and_changes_no_bit(tmp_path: Path) -> None:
    """papers100M's shape: features of 171 MB, undirected rows of 77 MB with their weights, in 350 MB of which
    Python and the compiler take 200."""

    def peak_and_checksums(budget: str, scale: float = 0.003) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, budget, str(tmp_path / f"{budget}-{scale}"), str(scale)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")},
        )
        peak, _, checksums = done.stdout.splitlines()[-1].partition(" ")
        return int(peak), checksums

    peak_and_checksums("none", 0.0001)  # compiles, which takes memory
    free, expected = peak_and_checksums("none")
    peak, checksums = peak_and_checksums("350MB")
    assert checksums == expected
    assert peak < min(1.2 * 350e6, free)
