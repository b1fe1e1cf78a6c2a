"""What executors do with batches of tables, without Spark: records of a matrix and of features, and rows of hops."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from sign.datasets.synthetic.communities import Communities
from sign.engines.spark.block_tasks import CURRENT, stream
from sign.engines.spark.cluster import records
from sign.engines.spark.cluster.hop_rows import Assemble, NodeRecords
from sign.engines.spark.cluster.node_rows import binary_rows, rows_of
from sign.engines.spark.cluster.records import FeatureRecords, RowRecords
from sign.engines.spark.records import Record, pack
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.graph.feature_scaling import FeatureScaling

pytestmark = pytest.mark.spark
BOUNDS = np.array([0, 17, 40, 60])


def batches(columns: dict[str, pa.Array], rows: int) -> Iterator[pa.RecordBatch]:
    return iter(pa.table(columns).to_batches(max_chunksize=rows))


def features(nodes: int, width: int) -> Floats:
    return np.random.default_rng(0).standard_normal((nodes, width)).astype(np.float32)


def test_rows_survive_as_bytes_also_in_a_slice() -> None:
    rows = features(9, 5)
    assert (rows_of(binary_rows(rows), 5) == rows).all()
    assert (rows_of(binary_rows(rows).slice(3, 4), 5) == rows[3:7]).all()


@pytest.mark.parametrize("entries", [1, 7, 1000])
def test_records_of_rows_have_every_entry_once(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "ENTRIES", entries)
    csr = Communities(nodes=60, edges=170, features=1).load().adjacency
    rows, values = csr.row_indices(), features(csr.entries, 1)[:, 0]
    keys = np.searchsorted(BOUNDS, rows, "right") - 1
    table = {"key": keys, "row": rows.astype(np.int64), "col": csr.indices.astype(np.int64), "value": values}
    found, numbers = np.zeros((60, 60), np.float32), set()
    for record in stream(RowRecords(BOUNDS)(batches(table, 11))):
        lengths = np.diff(record.numbers("indptr", np.int64))
        own = BOUNDS[record.key] + record.other + np.repeat(np.arange(len(lengths)), lengths)
        assert (np.searchsorted(BOUNDS, own, "right") - 1 == record.key).all()
        found[own, record.numbers("indices", np.int64)] += record.numbers("values", np.float32)
        assert (record.key, record.first) not in numbers
        numbers.add((record.key, record.first))
    expected = np.zeros((60, 60), np.float32)
    expected[rows, csr.indices] = values
    assert (found == expected).all()


@pytest.mark.parametrize("ones", [False, True])
def test_records_of_features_are_those_of_ranges(ones: bool) -> None:
    x, order = features(60, 4), np.concatenate([np.arange(30, 60), np.arange(30)])
    scaling = FeatureScaling("standardize", np.ones(4, np.float32), np.full(4, 2, np.float32))
    table = {"number": pa.array(order), "features": binary_rows(x[order])}
    found = np.full((60, 4 + ones), np.nan, np.float32)
    for record in stream(FeatureRecords(BOUNDS, 4, scaling, ones)(batches(table, 13))):
        assert record.kind == CURRENT
        values = record.floats(4 + ones)
        assert record.first + len(values) <= BOUNDS[record.key + 1] - BOUNDS[record.key]
        found[BOUNDS[record.key] + record.first :][: len(values)] = values
    assert (found[:, :4] == (x - 1) / 2).all()
    assert (found[:, 4:] == 1).all()


def assembled(x: list[Floats], chosen: np.ndarray) -> list[tuple[pa.Table, Floats]]:
    """What ``make`` is given for some nodes of two hops, of which the second has a column more in its records."""
    nodes = {"number": pa.array(chosen), "id": pa.array([f"n{node}" for node in chosen])}
    keys = np.searchsorted(BOUNDS, chosen, "right") - 1
    order = np.argsort(keys, kind="stable")
    table = {"key": pa.array(keys[order])} | {name: values.take(pa.array(order)) for name, values in nodes.items()}
    sent = list(stream(NodeRecords()(batches(table, 5))))
    for kind, hop in enumerate(x):
        for key in range(3):
            for first in range(int(BOUNDS[key]), int(BOUNDS[key + 1]), 6):
                last = min(first + 6, int(BOUNDS[key + 1]))
                sent.append(Record(key, kind, first=first - int(BOUNDS[key]), values=hop[first:last]))
    in_order = iter([pack(record) for record in sorted(sent, key=lambda record: record[:4])])
    make = Assemble(BOUNDS, 4, [hop.shape[1] for hop in x], lambda nodes, wide: (nodes, wide.copy()))
    return list(make(in_order))


def test_rows_have_the_hops_of_the_chosen_nodes() -> None:
    x, chosen = [features(60, 4), features(60, 5) + 1], np.array([58, 3, 5, 16, 59, 17])
    found = assembled(x, chosen)
    numbers = [number for nodes, _ in found for number in nodes.column("number").to_pylist()]
    assert numbers == sorted(chosen)
    assert [name for nodes, _ in found for name in nodes.column("id").to_pylist()] == [f"n{n}" for n in sorted(chosen)]
    wide = np.concatenate([rows for _, rows in found])
    assert (wide == np.hstack([x[0][numbers], x[1][numbers, :4]])).all()


def test_a_value_that_is_not_finite_is_refused_by_the_id_of_its_node() -> None:
    x = features(60, 4)
    x[16, 2] = np.inf
    assembled([x], np.array([3, 5]))
    with pytest.raises(SignError, match=r"the hops of node `n16` are not finite; scale the features"):
        assembled([x], np.array([3, 16]))
