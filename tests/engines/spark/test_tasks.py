"""The tasks of executors, without Spark: its shuffles are a sort here."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from common.graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.engines.base import Diffusion
from sign.engines.local.engine import LocalEngine
from sign.engines.spark import plan
from sign.engines.spark.block_tasks import CURRENT, Choose, Combine, Cut, Multiply, stream
from sign.engines.spark.blocks import ranges, row_records
from sign.engines.spark.records import Record, pack
from sign.engines.spark.shared_folder import SharedFolder
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.operators.chebyshev import apply_polynomial
from sign.operators.motif_counts import orient, triangles

pytestmark = pytest.mark.spark


def shuffled(records: Iterator[Any]) -> Iterator[Any]:
    """All records, by key and in order, as batches of one."""
    return map(pack, sorted(stream(records), key=lambda record: record[:4]))


@given(
    graph=graphs(),
    factors=st.tuples(st.booleans(), st.booleans()),
    loop=st.sampled_from([0.0, 1.0]),
    terms=st.sampled_from([(0.0, 1.0), (1.0, -1.0), (0.5, 0.3, 0.1, 0.2)]),
    count=st.integers(1, 5),
    chosen=st.integers(0, 2**12 - 1),
)
def test_blocks_make_the_polynomial_of_the_local_engine(
    graph: Graph, factors: tuple[bool, bool], loop: float, terms: tuple[float, ...], count: int, chosen: int
) -> None:
    rng = np.random.default_rng(graph.nodes)
    left, right = (rng.random(graph.nodes).astype(np.float32) if used else None for used in factors)
    matrix = Matrix(graph.adjacency, left, right, loop)
    width = graph.features.shape[1]
    rows = np.array([i for i in range(graph.nodes) if chosen >> i & 1], np.int64)
    with tempfile.TemporaryDirectory() as folder:
        shared = SharedFolder(None, f"file:{folder}")
        bounds = ranges(graph.adjacency.indptr, count)
        spans = [tuple(map(int, bounds[key : key + 2])) for key in range(len(bounds) - 1)]
        given_rows = (pack(r) for key, span in enumerate(spans) for r in row_records(matrix.csr, key, *span))
        cut = Cut(bounds, shared.share(left, "left"), shared.share(right, "right"), loop)
        pieces = list(cut(given_rows))
        state = [pack(Record(key, CURRENT, values=graph.features[a:b])) for key, (a, b) in enumerate(spans)]
        for number in range(1, len(terms)):
            current = [batch for batch in state if next(stream(iter([batch]))).kind == CURRENT]
            sums = Multiply(bounds, None, width, 1, "float32")(shuffled(iter([*pieces, *current])))
            combine = Combine(bounds, width, terms, number, False, "float32")
            state = list(combine(shuffled(iter([*sums, *state]))))
        used = shared.share(rows, "used")
        found = np.concatenate(
            [np.empty((0, width), np.float32)]
            + [r.floats(width) for r in stream(Choose(bounds, used, width)(shuffled(iter(state))))]
        )
    expected = apply_polynomial(np.array(terms), matrix, graph.features, LocalEngine(threads=1).product)
    np.testing.assert_allclose(found, expected[rows], rtol=1e-4, atol=1e-4)


def test_a_long_row_is_cut_and_its_sums_come_in_a_fixed_order(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr("sign.engines.spark.blocks.SIZE", 64)
    monkeypatch.setattr("sign.engines.spark.records.SIZE", 64)
    graph = Communities(nodes=60, edges=170, features=3, classes=2).load()
    bounds = ranges(graph.adjacency.indptr, 3)
    spans = [tuple(map(int, bounds[key : key + 2])) for key in range(3)]
    records = [r for key, span in enumerate(spans) for r in row_records(graph.adjacency, key, *span)]
    pieces = list(stream(Cut(bounds, None, None, 1.0)(map(pack, records))))
    assert len({piece[:4] for piece in pieces}) == len(pieces)
    assert sum(len(piece.numbers("values", np.float32)) for piece in pieces) == graph.adjacency.entries + 60


@given(graph=graphs(directed=False), parts=st.integers(1, 4))
def test_pairs_of_parts_find_every_triangle_once(graph: Graph, parts: int) -> None:
    from sign.engines.spark.triangles import Add, Intersect
    from sign.operators.motif_counts import spread

    csr = remove_self_loops(graph.undirected)
    indptr, indices = orient(csr)
    bounds = ranges(indptr, parts)
    count = len(bounds) - 1
    with tempfile.TemporaryDirectory() as folder:
        shared = SharedFolder(None, f"file:{folder}").share(indptr, "indptr")
        own = [indices[indptr[bounds[k]] : indptr[bounds[k + 1]]].astype(np.int64) for k in range(count)]
        pairs = [
            pack(Record(number, kind=part, indices=own[part]))
            for number, pair in enumerate({(a, b) for a in range(count) for b in range(a, count)})
            for part in sorted(set(pair))
        ]
        found = shuffled(Intersect(bounds, shared)(shuffled(iter(pairs))))
        counts = [record.numbers("values", np.int64) for record in stream(Add(bounds, shared)(found))]
    total = np.concatenate([np.empty(0, np.int64), *counts])
    assert (spread(csr.indptr, csr.indices, indptr, indices, total) == triangles(csr)).all()


@given(lengths=st.lists(st.integers(0, 50), min_size=1, max_size=60), count=st.integers(1, 12))
def test_ranges_cover_all_nodes_and_none_is_too_large(lengths: list[int], count: int) -> None:
    indptr = np.r_[0, np.cumsum(lengths)]
    bounds = ranges(indptr, count)
    assert (bounds[0], bounds[-1]) == (0, len(lengths))
    assert (np.diff(bounds) > 0).all()
    assert len(bounds) <= count + 1
    assert np.diff(bounds).max() <= 2 * len(lengths) / count + 1


def test_a_plan_follows_from_sizes() -> None:
    graph = Communities(nodes=1000, edges=5000, features=128).load()  # 48 kB, and 4 kB for each array of a column
    operator = NormalizedAdjacency()
    diffusion = Diffusion(operator, Matrix(graph.adjacency), graph.features, {1: None}, {1})
    wide = plan.choose(diffusion, plan.Executors(10**7, slots=4, at_once=2), "auto", None, None)
    assert (wide.name, wide.width) == ("columns", 32)
    narrow = plan.choose(diffusion, plan.Executors(600_000, slots=4, at_once=2), "auto", None, None)
    assert (narrow.name, narrow.width) == ("columns", 17)
    none = plan.choose(diffusion, plan.Executors(10**5, slots=4, at_once=2), "auto", None, None)
    assert (none.name, none.ranges, none.width) == ("blocks", 83, 128)
    sliced = plan.choose(diffusion, plan.Executors(10**5, slots=4, at_once=2), "auto", None, 16)
    assert (sliced.ranges, sliced.width) == (11, 16)


def test_what_a_killed_driver_left_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "sign-killed" / "features").mkdir(parents=True)
    (tmp_path / "sign-killed" / ".lock").touch()
    (tmp_path / "sign-of-somebody-else").mkdir()
    with SharedFolder.new(None, f"file:{tmp_path}") as one, SharedFolder.new(None, f"file:{tmp_path}") as two:
        names = {folder.name for folder in tmp_path.iterdir()}
        assert names == {"sign-of-somebody-else", *(shared.uri.rpartition("/")[2] for shared in (one, two))}
    assert [folder.name for folder in tmp_path.iterdir()] == ["sign-of-somebody-else"]
