"""Only rows that something reads are computed, and a hop is stored only if all its values have arrived."""

import errno
import os
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sign.diffusion.compute import HopSource, Totals, load_or_compute
from sign.engines.base import Block, Diffusion, Engine
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.graph.classification import Scope, scopes
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.base import Operator
from sign.operators.heat import HeatKernel
from sign.operators.ppr import PersonalizedPageRank
from sign.store.store import Store
from sign.system import locks
from sign.testing import graph_of, path

ADJACENCY = NormalizedAdjacency()


def source(
    store: Path, engine: Engine | None = None, graph: Graph | None = None, dtype: Any = "float32", **changes: Any
) -> HopSource:
    """The first two powers on a path of nine nodes, of which two are used."""
    graph = graph or replace(path(9), train=np.array([0, 1]))
    (scope,) = scopes(graph, FeatureScaling("none"))
    fields: dict[str, Any] = {"scope": scope, "letter": "p", "operator": ADJACENCY, "powers": range(1, 3)} | changes
    fields |= {"engine": engine or LocalEngine(threads=1), "store": Store(str(store), dtype)}
    return HopSource("toy", totals=Totals(), **fields)


def test_the_second_call_finds_what_the_first_stored(tmp_path: Path) -> None:
    first, again = load_or_compute(source(tmp_path)), load_or_compute(source(tmp_path, NoEngine()))
    assert [(hop.name, hop.found) for hop in first] == [("p1", False), ("p2", False)]
    assert [(hop.name, hop.found) for hop in again] == [("p1", True), ("p2", True)]
    matrix = ADJACENCY.matrix(path(9)).to_scipy().toarray()
    for power, (ours, stored) in enumerate(zip(first, again, strict=True), start=1):
        np.testing.assert_allclose(ours.array, np.linalg.matrix_power(matrix, power)[:2], atol=1e-6)
        assert (ours.array == stored.array).all()
        assert stored.seconds == pytest.approx(ours.seconds, abs=1e-6)


def test_rows_of_products_are_counted(tmp_path: Path) -> None:
    load_or_compute(origin := source(tmp_path))
    assert origin.totals == Totals(hops=2, rows_computed=3 + 2, rows_at_most=18)


def test_a_read_only_store_serves_the_hops_that_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    load_or_compute(source(tmp_path))
    for owner, name in ((os, "utime"), (Path, "mkdir"), (locks, "_acquire")):
        monkeypatch.setattr(owner, name, refuse)
    assert all(hop.found for hop in load_or_compute(source(tmp_path)))
    with pytest.raises(SignError, match=r"cannot be written \(read-only file system\); .*set paths.store_dir"):
        load_or_compute(source(tmp_path, powers=range(1, 4)))


@pytest.mark.parametrize("by", ["block", "column"])
def test_an_engine_that_yields_too_few_values_is_an_error(tmp_path: Path, by: str) -> None:
    with pytest.raises(SignError, match=r"the engine did not yield all values of p2$"):
        load_or_compute(source(tmp_path, IncompleteEngine(threads=1, by=by)))
    hops = load_or_compute(source(tmp_path))
    assert [(hop.name, hop.found) for hop in hops] == [("p1", True), ("p2", False)]
    assert not list(tmp_path.rglob("*.tmp"))


def test_values_that_are_not_finite_are_not_stored(tmp_path: Path) -> None:
    features = np.full((5, 1), 6e4, np.float32)  # float16 ends at 65504; the centre of a star gets 1.46 times as much
    star = graph_of([(0, leaf) for leaf in range(1, 5)], 5, features=features)
    half = source(tmp_path, graph=star, dtype="float16")
    with pytest.raises(SignError, match=r"some values are not finite in float16, the type of the store; use store"):
        load_or_compute(half)
    assert half.folder(None).hops() == {}


@pytest.mark.parametrize("operator", [ADJACENCY, HeatKernel(), PersonalizedPageRank()])
def test_sums_that_overflow_float32_are_not_stored(tmp_path: Path, operator: Operator) -> None:
    star = graph_of([(0, leaf) for leaf in range(1, 5)], 5, features=np.full((5, 1), 3e38, np.float32))
    broken = source(tmp_path, graph=star, operator=operator)
    with pytest.raises(SignError, match=r"some values are not finite in float32, the type of the store; scale the fea"):
        load_or_compute(broken)
    assert broken.folder(None).hops() == {}


FEATURES = {"letter": "X", "operator": None, "powers": range(1)}


@pytest.mark.parametrize("hops", [FEATURES, {}])
@pytest.mark.parametrize(("dtype", "scale"), [("float16", 1e-5), ("float16", 1e-9), ("float32", 1e-40)])
def test_values_below_the_range_of_the_type_are_not_stored(
    tmp_path: Path, dtype: Any, scale: float, hops: dict[str, Any]
) -> None:
    small = graph_of([(0, 1), (1, 2)], 3, features=np.full((3, 2), scale, np.float32))
    broken = source(tmp_path, graph=small, **hops, dtype=dtype)
    with pytest.raises(SignError, match=rf"below .* in {dtype}, the type of the store; .*scaling.features"):
        load_or_compute(broken)
    assert broken.folder(None).hops() == {}
    assert not list(tmp_path.rglob("*.npy"))


def test_small_values_beside_large_ones_and_rows_of_zeros_are_stored(tmp_path: Path) -> None:
    features = np.array([[1, 1e-9], [1e-9, 1e-3], [0, 0]], np.float32)
    half = source(tmp_path, graph=graph_of([(0, 1)], 3, features=features), **FEATURES, dtype="float16")
    (hop,) = load_or_compute(half)
    assert (hop.array == features.astype(np.float16)).all()
    zeros = source(tmp_path, graph=graph_of([(0, 1)], 3, features=features * 0), dtype="float16")
    assert not any(hop.array.any() for hop in load_or_compute(zeros))


def test_a_node_whose_features_would_all_become_zero_is_named(tmp_path: Path) -> None:
    features = np.array([[1, 1], [1e-9, -1e-9], [1, 0]], np.float32)
    half = source(tmp_path, graph=graph_of([(0, 1)], 3, features=features), **FEATURES, dtype="float16")
    with pytest.raises(SignError, match=r"those of node 1 are below 3e-08, which is zero in float16.*dtype=float32"):
        load_or_compute(half)


def test_missing_hops_without_a_graph_are_named(tmp_path: Path) -> None:
    load_or_compute(source(tmp_path))
    (scope,) = scopes(replace(path(9), train=np.array([0, 1])), FeatureScaling("none"))
    exported: Scope = replace(scope, origin=None)
    assert all(hop.found for hop in load_or_compute(source(tmp_path, scope=exported)))
    with pytest.raises(SignError, match="toy: has no p3, p4, nor a graph to compute them; export it again with them"):
        load_or_compute(source(tmp_path, scope=exported, powers=range(1, 5)))


@dataclass(frozen=True)
class NoEngine(LocalEngine):
    """It may not be used."""

    def powers(self, diffusion: Diffusion) -> Generator[Block]:
        raise AssertionError("computed again")


@dataclass(frozen=True)
class IncompleteEngine(LocalEngine):
    """It leaves out the second power, or a column of it."""

    by: str = "block"

    def powers(self, diffusion: Diffusion) -> Generator[Block]:
        for block in super().powers(diffusion):
            if block.power == 1:
                yield block
            elif self.by == "column":
                columns = slice(block.columns.start, block.columns.stop - 1)
                yield block._replace(columns=columns, values=block.values[:, :-1])
