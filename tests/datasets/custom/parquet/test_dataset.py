"""A graph in Parquet tables is the graph that was written, with its nodes in the order of their ids."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from common.graphs import graphs
from common.parquet_tables import names_of, write_files, write_graph_tables
from hypothesis import given
from hypothesis import strategies as st

from sign.datasets.custom.parquet.dataset import Parquet
from sign.datasets.synthetic.communities import Communities
from sign.errors import FieldError, SignError
from sign.graph.features import SparseFeatures
from sign.graph.graph import SPLITS, Graph


def small(**fields: Any) -> Graph:
    return Communities(nodes=40, edges=70, features=5, classes=3, **fields).load()


def read(folder: Path, graph: Graph, text: bool = True, columns: dict[str, Any] | None = None, **fields: Any) -> Graph:
    tables = write_graph_tables(folder, graph, names_of(graph.nodes, text), **(columns or {}))
    return Parquet(**tables, directed=graph.directed, **fields).load()


def assert_same(found: Graph, graph: Graph, ids: list[Any]) -> None:
    """The graph is the written one, with its nodes sorted by their ids."""
    order = np.argsort(np.array(ids))
    assert found.node_ids.tolist() == [ids[node] for node in order]
    expected = graph.adjacency.to_scipy()[order][:, order].toarray()
    np.testing.assert_array_equal(found.adjacency.to_scipy().toarray(), expected)
    assert (found.features[:] == graph.features[:][order]).all()
    assert (found.labels == graph.labels[order]).all()
    rank = np.argsort(order)
    for split in SPLITS:
        assert found.nodes_of(split).tolist() == sorted(rank[graph.nodes_of(split)])


@given(drawn=graphs(), text=st.booleans(), files=st.integers(1, 4))
def test_a_graph_is_read_as_it_was_written(drawn: Graph, text: bool, files: int) -> None:
    labels = np.arange(drawn.nodes) % 2
    graph = replace(drawn, labels=labels, classes=int(labels.max()) + 1)
    ids = names_of(graph.nodes, text)
    with TemporaryDirectory() as folder:
        tables = write_graph_tables(Path(folder), graph, ids, files)
        assert_same(Parquet(**tables, directed=graph.directed).load(), graph, ids)


def test_neither_files_nor_the_order_of_rows_change_a_graph(tmp_path: Path) -> None:
    graph, ids = small(), names_of(40)
    one, many = (Parquet(**write_graph_tables(tmp_path / str(files), graph, ids, files), name="x") for files in (1, 5))
    assert one.load().adjacency.digest == many.load().adjacency.digest
    assert one.load().features_digest == many.load().features_digest
    assert one.content_digest() != many.content_digest()
    assert (tmp_path / "1" / "edges").is_dir()


def test_an_undirected_edge_may_be_listed_once_or_twice(tmp_path: Path) -> None:
    nodes = write_files(tmp_path / "nodes", {"id": [3, 1, 2], "label": [0, 1, 1], "x": [1.0, 2.0, 3.0]})
    edges = write_files(tmp_path / "edges", {"src": [1, 3, 1, 1], "dst": [3, 1, 2, 2], "w": [2.0, 2.0, 1.0, 1.0]})
    adjacency = Parquet(edges=str(edges), nodes=str(nodes)).load().adjacency.to_scipy().toarray()
    assert adjacency.tolist() == [[0, 1, 2], [1, 0, 0], [2, 0, 0]]
    added = Parquet(edges=str(edges), nodes=str(nodes), combine="sum").load().adjacency.to_scipy().toarray()
    assert added.tolist() == [[0, 2, 2], [2, 0, 0], [2, 0, 0]]


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float64(), 4), pa.large_list(pa.float32())])
def test_an_array_column_and_numbers_are_features(tmp_path: Path, kind: pa.DataType) -> None:
    graph = small()
    columns = {"vector": pa.array(graph.features[:, :4].tolist(), kind), "age": graph.features[:, 4]}
    found = read(tmp_path, graph, columns=columns)
    assert_same(found, graph, names_of(40))
    assert found.feature_names == ("vector[0]", "vector[1]", "vector[2]", "vector[3]", "age")


@pytest.mark.parametrize("size", [None, 9])
@pytest.mark.parametrize("declared", [False, True])
def test_a_sparse_column_stays_sparse(tmp_path: Path, size: int | None, declared: bool) -> None:
    graph = small()
    words = np.where(graph.features > 0.5, graph.features, 0)
    words[0, 4] = 1
    rows = [{"indices": np.flatnonzero(row)[::-1].tolist(), "values": row[row != 0][::-1].tolist()} for row in words]
    fields = [("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))]
    if declared:
        rows, fields = [{"size": 7, **row} for row in rows], [("size", pa.int32()), *fields]
    found = read(tmp_path, graph, columns={"words": pa.array(rows, pa.struct(fields))}, feature_size=size)
    assert isinstance(found.features, SparseFeatures)
    width = size or (7 if declared else 5)
    padded = np.pad(words, ((0, 0), (0, width - 5)))
    assert_same(found, replace(graph, features=padded.astype(np.float32)), names_of(40))


@pytest.mark.parametrize("array", [False, True])
def test_several_labels_are_columns_or_an_array(tmp_path: Path, array: bool) -> None:
    graph = small(multilabel=True)
    ids = names_of(40)
    tables = write_graph_tables(tmp_path, graph, ids)
    if array:
        split = Parquet(**tables).load()
        names = [name for part in SPLITS for name in split.node_ids[split.nodes_of(part)].tolist()]
        parts = [part for part in SPLITS for _ in split.nodes_of(part)]
        of = dict(zip(names, parts, strict=True))
        labels = {"labels": pa.array(graph.labels.tolist(), pa.list_(pa.int8()))}
        columns = {f"x{number}": graph.features[:, number] for number in range(5)}
        write_files(tmp_path / "nodes", {"id": ids, **labels, "split": [of.get(name) for name in ids], **columns})
    found = Parquet(**tables).load()
    assert_same(found, graph, ids)
    assert found.class_names == (() if array else tuple(map(str, range(graph.classes))))


def test_drawn_splits_belong_to_ids_and_have_the_fractions(tmp_path: Path) -> None:
    ids = names_of(3000)

    def drawn(count: int, **fields: Any) -> Graph:
        label = [None if number % 3 == 0 else number % 2 for number in range(count)]
        nodes = write_files(tmp_path / f"nodes{count}", {"id": ids[:count], "label": label, "x": np.ones(count)})
        edges = write_files(tmp_path / "edges", {"source": ids[:1], "target": ids[1:2]}, 1)
        return Parquet(edges=str(edges), nodes=str(nodes), **fields).load()

    few, many = drawn(2000), drawn(3000)
    for split, fraction in zip(SPLITS, (0.6, 0.2, 0.2), strict=True):
        nodes = many.nodes_of(split)
        assert set(few.node_ids[few.nodes_of(split)]) <= set(many.node_ids[nodes])
        assert (many.labels[nodes] >= 0).all()
        assert abs(len(nodes) / 2000 - fraction) < 0.04
    other = drawn(2000, split_seed=1)
    assert set(other.train) != set(few.train)


def test_folders_named_after_values_are_columns(tmp_path: Path) -> None:
    for split, first in (("train", 0), ("val", 3), ("test", 6)):
        part = {"id": list(range(first, first + 3)), "label": [0, 1, 0], "x": [1.0, 2.0, 3.0]}
        write_files(tmp_path / "nodes" / f"split={split}", part, 1)
    edges = write_files(tmp_path / "edges", {"source": [0, 1], "target": [5, 8]}, 1)
    graph = Parquet(edges=str(edges), nodes=str(tmp_path / "nodes")).load()
    assert {split: graph.nodes_of(split).tolist() for split in SPLITS} == {
        "train": [0, 1, 2],
        "val": [3, 4, 5],
        "test": [6, 7, 8],
    }


def test_a_graph_without_labels_can_be_scored_but_not_trained_on(tmp_path: Path) -> None:
    nodes = write_files(tmp_path / "nodes", {"id": ["b", "a"], "x": [1.0, 2.0]})
    edges = write_files(tmp_path / "edges", {"source": ["a"], "target": ["b"]}, 1)
    dataset = Parquet(edges=str(edges), nodes=str(nodes))
    assert dataset.load_for_prediction().features.tolist() == [[2], [1]]
    with pytest.raises(SignError, match="has no labels; add a column label"):
        dataset.load()


GOOD_NODES = {"id": ["a", "b", "c"], "label": [0, 1, 0], "split": ["train", "val", "test"], "x": [1.0, 2.0, 3.0]}
GOOD_EDGES = {"source": ["a", "b"], "target": ["b", "c"]}
VECTORS = {name: values for name, values in GOOD_NODES.items() if name != "x"}


def sparse(rows: list[tuple[list[int], list[float]]]) -> pa.Array:
    kind = pa.struct([("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float32()))])
    return pa.array([{"indices": indices, "values": values} for indices, values in rows], kind)


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (
            GOOD_NODES,
            {"source": ["a", "x"], "target": ["b", "c"]},
            r"edges, column source: 'x' is not the id of a node",
        ),
        (GOOD_NODES, {"source": ["a", None], "target": ["b", "c"]}, r"an empty cell is not the id of a node"),
        (GOOD_NODES, {"from": ["a"], "b": ["b"]}, r"edges: has columns from, b; name the columns of sources and"),
        (GOOD_NODES, {**GOOD_EDGES, "weight": [1.0, -1.0]}, r"edges: the edge from `\w` to `\w` has weight -1.0"),
        (GOOD_NODES, {"source": ["a", "b"], "target": ["b", "a"], "w": [1.0, 2.0]}, r"with different weights"),
        ({**GOOD_NODES, "x": [1.0, None, 3.0]}, GOOD_EDGES, r"feature `x` of node `b` is nan; replace missing"),
        ({**GOOD_NODES, "x": [1.0, np.inf, 3.0]}, GOOD_EDGES, r"feature `x` of node `b` is inf"),
        ({**GOOD_NODES, "x": [1.0, 1e300, 3.0]}, GOOD_EDGES, r"column x: the column has 1e\+300 as its largest value"),
        ({**GOOD_NODES, "x": ["a", "b", "c"]}, GOOD_EDGES, r"column x: not every cell is a number .*ignore=\[x\]"),
        ({**GOOD_NODES, "id": ["a", "b", "b"]}, GOOD_EDGES, r"nodes, column id: b is duplicated"),
        ({**GOOD_NODES, "id": ["a", "b", None]}, GOOD_EDGES, r"has no id"),
        ({"name": ["a"], "label": [0], "x": [1.0]}, GOOD_EDGES, r"nodes: has no column of ids; name it id or node"),
        (VECTORS, GOOD_EDGES, r"nodes: has no features"),
        ({**GOOD_NODES, "label": [0, None, 0]}, GOOD_EDGES, r"nodes: node `b` is in the val split, but has no label"),
        ({**GOOD_NODES, "split": ["train", "dev", "test"]}, GOOD_EDGES, r"'dev' is not a split"),
        (
            {**VECTORS, "v": [[1.0], [1.0, 2.0], [3.0]]},
            GOOD_EDGES,
            r"node `\w` has an array of 1, others one of 2|of 2",
        ),
        ({**VECTORS, "v": [[1.0], None, [3.0]]}, GOOD_EDGES, r"node `b` has no array, others one of 1; write 1"),
        (
            {**VECTORS, "v": sparse([([0], [1]), ([1], []), ([], [])])},
            GOOD_EDGES,
            r"node `b` must have as many indices",
        ),
        ({**VECTORS, "v": sparse([([0], [1]), ([-1], [1]), ([], [])])}, GOOD_EDGES, r"the index -1, but there are 1"),
        (
            {**VECTORS, "v": sparse([([0, 0], [1, 2]), ([], []), ([], [])])},
            GOOD_EDGES,
            r"node `a` has the index 0 twice",
        ),
        ({**GOOD_NODES, "v": sparse([([0], [1])] * 3)}, GOOD_EDGES, r"has the sparse column v beside x; keep one"),
        ({name: values[:0] for name, values in GOOD_NODES.items()}, GOOD_EDGES, r"nodes: has no rows"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, nodes: dict[str, Any], edges: dict[str, Any], message: str) -> None:
    if not len(nodes["label"]):
        nodes = {name: pa.array([], pa.array(GOOD_NODES[name]).type) for name in nodes}
    paths = {"nodes": write_files(tmp_path / "nodes", nodes, 2), "edges": write_files(tmp_path / "edges", edges, 1)}
    with pytest.raises(SignError, match=message):
        Parquet(**{name: str(path) for name, path in paths.items()}).load()


def test_an_index_beyond_the_declared_size_is_refused(tmp_path: Path) -> None:
    nodes = write_files(tmp_path / "nodes", {**VECTORS, "v": sparse([([4], [1])] * 3)})
    edges = write_files(tmp_path / "edges", GOOD_EDGES)
    with pytest.raises(SignError, match=r"contains the index 4, but there are 3 features; set dataset.feature_size"):
        Parquet(edges=str(edges), nodes=str(nodes), feature_size=3).load()


def test_columns_can_be_left_out(tmp_path: Path) -> None:
    nodes = write_files(tmp_path / "nodes", {**GOOD_NODES, "country": ["x", "y", "z"]})
    tables = {"nodes": str(nodes), "edges": str(write_files(tmp_path / "edges", GOOD_EDGES))}
    assert Parquet(**tables, ignore=["country"]).load().feature_names == ("x",)
    with pytest.raises(SignError, match=r"dataset.ignore: there is no column city; the columns are id, label"):
        Parquet(**tables, ignore=["city"]).load()


def test_settings_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(FieldError, match=r"edges=.*missing: there is no such folder or file"):
        Parquet(edges=str(tmp_path / "missing"), nodes=str(tmp_path))
    with pytest.raises(FieldError, match=r"val_fraction=0.5: training and validation leave no test nodes"):
        Parquet(edges=str(tmp_path), nodes=str(tmp_path), val_fraction=0.5)
    assert Parquet(edges="hdfs://host/graphs/my shop/edges", nodes="hdfs://host/nodes").name == "my-shop"
