"""Batches of the user's tables on executors, without Spark: converted as on this machine, or refused."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sign.datasets.custom.labels import encode_labels
from sign.datasets.custom.parquet.drawn_splits import DrawnSplits
from sign.datasets.custom.parquet.feature_columns import DenseColumns
from sign.datasets.custom.parquet.node_columns import NodeColumns
from sign.datasets.custom.tables import Column
from sign.engines.spark.cluster.edges import EdgeRows
from sign.engines.spark.cluster.export import PackRows
from sign.engines.spark.cluster.node_rows import LabelCodes, NodeRows, rows_of
from sign.engines.spark.cluster.tables import table_of
from sign.errors import SignError

pytestmark = pytest.mark.spark
PEOPLE = {
    "id": ["b", " a", "c"],
    "label": ["x", "NA", "z"],
    "split": ["train", "", "val"],
    "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "n": [1, 2, 3],
}


def converted(columns: dict[str, Any]) -> tuple[NodeRows, pa.RecordBatch]:
    table = table_of(pa.table(columns), "nodes")
    of = NodeColumns.of(table, [])
    distinct = Column.of(pa.chunked_array([["z", "NA", "x"]]), "label")
    labels = encode_labels(distinct)
    codes = LabelCodes(labels.classes, labels.names, values=distinct.values.combine_chunks(), codes=labels.values)
    dense = DenseColumns.of(table_of(pa.table({name: columns[name] for name in of.dense}), "nodes"))
    rows = NodeRows("nodes", of, dense, codes, DrawnSplits(0, 0.6, 0.2))
    (batch,) = rows(iter(pa.table(columns).to_batches()))
    return rows, batch


def test_classes_splits_and_arrays() -> None:
    rows, batch = converted(PEOPLE)
    columns = batch.to_pydict()
    assert (columns["id"], columns["label"], columns["split"]) == (["b", "a", "c"], [0, -1, 1], [0, -1, 1])
    assert rows_of(batch.column(3), rows.width).tolist() == [[1, 2, 1], [3, 4, 2], [5, 6, 3]]
    assert rows.schema(table_of(pa.table(PEOPLE), "")) == "id string, split int, label int, features binary"


def test_several_labels_and_sparse_features() -> None:
    kind = pa.struct([("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))])
    words = [([1], [2.0]), ([], []), ([3, 0], [1.0, 4.0])]
    sparse = pa.array([{"indices": indices, "values": values} for indices, values in words], kind)
    columns = {
        "id": [5, 3, 9],
        "label_a": [0, 1, 1],
        "label_b": [1, 1, 0],
        "split": ["train", None, "test"],
        "w": sparse,
    }
    of = NodeColumns.of(table_of(pa.table(columns), "nodes"), [])
    rows = NodeRows("nodes", of, 4, LabelCodes(2, ("a", "b"), 2), DrawnSplits(0, 0.6, 0.2))
    (batch,) = rows(iter(pa.table(columns).to_batches()))
    assert batch.to_pydict()["label"] == [[0, 1], [1, 1], [1, 0]]
    assert batch.to_pydict()["split"] == [0, -1, 2]
    assert rows_of(batch.column(3), 4).tolist() == [[0, 2, 0, 0], [0, 0, 0, 0], [4, 0, 0, 1]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"split": ["train", "val", "val"]}, "node `a` is in the val split, but has no label"),
        ({"n": [1, None, 2]}, "feature `n` of node ` a` is nan; replace missing and infinite values first"),
        ({"id": ["a", "b", None]}, "column id: a node has no id; ids must be complete"),
        ({"v": [[1.0, 2.0], [3.0], [5.0, 6.0]]}, "node ` a` has an array of 1, others one of 2; write 2"),
    ],
)
def test_wrong_nodes_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(SignError, match=message):
        converted({**PEOPLE, **wrong})


@pytest.mark.parametrize(
    ("kind", "ends", "expected"),
    [
        ("long", [1, 2], [1, 2]),
        ("long", [1.0, 2.0], [1, 2]),  # pandas writes integers so
        ("string", [" a", "b"], ["a", "b"]),
        ("string", [1.0, 2.0], ["1", "2"]),
    ],
)
def test_ends_of_edges_become_ids(kind: str, ends: list[Any], expected: list[Any]) -> None:
    batches = pa.table({"s": ends, "t": ends[::-1], "w": [1, 2]}).to_batches()
    (batch,) = EdgeRows("edges", ("s", "t"), "w", kind)(iter(batches))
    assert batch.to_pydict() == {"source": expected, "target": expected[::-1], "weight": [1.0, 2.0]}


@pytest.mark.parametrize("weight", [-1.0, None, 1e30])
def test_wrong_weights_are_refused(weight: float | None) -> None:
    batches = pa.table({"s": [1, 2], "t": [2, 1], "w": [1.0, weight]}).to_batches()
    with pytest.raises(SignError, match=r"edges: the edge from `2` to `1` has weight .*; weights must be positive"):
        list(EdgeRows("edges", ("s", "t"), "w", "long")(iter(batches)))


def test_rows_of_a_pack_have_an_array_per_hop() -> None:
    label = pa.array([[0, 1], [1, 1]], pa.list_(pa.int8()))
    nodes = pa.table({"key": [0, 0], "number": [4, 7], "id": ["a", "b"], "split": [0, 2], "label": label})
    batch = PackRows(["X", "p1"], 2)(nodes, np.arange(8, dtype=np.float32).reshape(2, 4))
    assert batch.to_pydict() == {
        **{"node": [4, 7], "id": ["a", "b"], "split": ["train", "test"], "label": [[0, 1], [1, 1]]},
        **{"X": [[0, 1], [4, 5]], "p1": [[2, 3], [6, 7]]},
    }
