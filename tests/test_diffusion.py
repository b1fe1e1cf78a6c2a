"""Hops are right, computed once, and keep held-out nodes out of training."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from strategies import graphs

from sign.datasets.communities import Communities
from sign.diffusion import Hops, diffuse
from sign.engines.local import LocalEngine
from sign.errors import SignError
from sign.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.problem import problem_of
from sign.sparse import CSR, Matrix
from sign.store import Store

ADJACENCY = NormalizedAdjacency()


def run(graph: Graph, folder: Path, power: int = 3, feature_scaling: str = "none", **store: str) -> Hops:
    problem = problem_of(graph, feature_scaling)
    return diffuse(problem, {"p": (ADJACENCY, power)}, LocalEngine(), Store(str(folder), **store))


@given(graph=graphs())
def test_hops_equal_the_dense_formula(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    hops = run(graph, tmp_path_factory.mktemp("store"))
    matrix = ADJACENCY.matrix(graph).to_scipy().toarray().astype(np.float64)
    assert hops.names == ["X", "p1", "p2", "p3"]
    for power, array in enumerate(hops.arrays["train"]):
        expected = np.linalg.matrix_power(matrix, power) @ graph.features
        np.testing.assert_allclose(array, expected, atol=1e-5)


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
    return CSR.from_edges(
        np.r_[edges.row[kept], source, target], np.r_[edges.col[kept], target, source], graph.nodes
    )


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
        diffuse(problem_of(graph), {"p": (Wrong(), 1)}, LocalEngine(), Store(str(tmp_path)))
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
    arrays = diffuse(problem_of(graph), powers, LocalEngine(), store).arrays["train"]
    np.testing.assert_allclose(arrays[4], 4 * np.array(arrays[2]), rtol=1e-6)
