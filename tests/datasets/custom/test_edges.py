"""Edges are read from tables with and without a header, and from arrays."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from sign.datasets.custom.edges import read_edges
from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.tables import Table
from sign.errors import SignError


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2\n1,2,3\n",
        "src,dst,weight\n0,1,2\n1,2,3\n",
        "weight,v,u\n2,1,0\n3,2,1\n",
        "u,v,w\n0,1,2\n1,2,3\n",
        "Source,Target,Weights\n0,1,2\n1,2,3\n",
        "from;to;weight\n0;1;2\n1;2;3\n",
        "0|1|2\n1|2|3\n",
    ],
)
def test_columns_are_found_by_position_or_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    edges = read_edges(tmp_path / "edges.csv", NodeIds(3))
    assert (edges.source.tolist(), edges.target.tolist()) == ([0, 1], [1, 2])
    assert edges.weights is not None
    assert edges.weights.tolist() == [2, 3]


@pytest.mark.parametrize("transposed", [True, False])
def test_arrays_have_either_orientation(tmp_path: Path, transposed: bool) -> None:
    edges = np.array([[0, 1, 2], [1, 2, 0]])
    np.save(tmp_path / "edges.npy", edges.T if transposed else edges)
    found = read_edges(tmp_path / "edges.npy", NodeIds(3))
    assert (found.source.tolist(), found.target.tolist(), found.weights) == ([0, 1, 2], [1, 2, 0], None)


def test_an_ambiguous_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "edges.npy", np.eye(2, dtype=np.int64))
    with pytest.raises(SignError, match="orientation of a 2 × 2 array is ambiguous"):
        read_edges(tmp_path / "edges.npy", NodeIds(3))


def write_edges(folder: Path, columns: dict[str, list[Any]], ending: str) -> Path:
    file = folder / f"edges{ending}"
    table = pa.table(columns)
    pq.write_table(table, file) if ending == ".parquet" else pa_csv.write_csv(table, file)
    return file


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_two_pairs_of_columns_or_two_weights_are_ambiguous(tmp_path: Path, ending: str) -> None:
    columns = {name: [0, 1] for name in ("source", "target", "from", "to")}
    with pytest.raises(SignError, match="columns source/target and from/to could all be sources and targets; rename"):
        read_edges(write_edges(tmp_path, columns, ending), NodeIds(3))
    columns = {name: [0, 1] for name in ("source", "target", "weight", "w")}
    with pytest.raises(SignError, match="the columns weight and w mean the same; keep one"):
        read_edges(write_edges(tmp_path, columns, ending), NodeIds(3))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_columns_that_are_not_used_are_named_in_the_log(
    tmp_path: Path, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    columns = {name: [0, 1] for name in ("time", "source", "target", "from", "weigth")}
    assert read_edges(write_edges(tmp_path, columns, ending), NodeIds(3)).weights is None
    assert "not used: time, from, weigth; weights are in a column weight or weights or w" in caplog.text


@pytest.mark.parametrize(
    ("cell", "message"), [("0x1", "such as '0x1'"), ("1e0", "such as '1e0'"), ("1.0", "such as '1.0'")]
)
def test_nodes_are_decimal_integers(tmp_path: Path, cell: str, message: str) -> None:
    (tmp_path / "edges.csv").write_text(f"source,target\n0,{cell}\n")
    with pytest.raises(SignError, match=f"column target: not every cell is an integer .{message}"):
        read_edges(tmp_path / "edges.csv", NodeIds(3))


def test_booleans_are_no_nodes(tmp_path: Path) -> None:
    file = write_edges(tmp_path, {"source": [True, False], "target": [0, 1]}, ".parquet")
    for ids in (NodeIds(2), NodeIds(2, pa.chunked_array([["0", "1"]]))):
        with pytest.raises(SignError, match="column source: contains true and false; it must be integers"):
            read_edges(file, ids)


@pytest.mark.parametrize("text", ["0 1\n1 2\n", "source target\n0 1\n1 2\n", "0 1 3\n1 2 4\n"])
def test_edges_may_be_separated_by_single_spaces(tmp_path: Path, text: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    edges = read_edges(tmp_path / "edges.csv", NodeIds(3))
    assert (edges.source.tolist(), edges.target.tolist()) == ([0, 1], [1, 2])
    assert edges.weights is None or edges.weights.tolist() == [3, 4]


@pytest.mark.parametrize("text", ["0  1\n1  2\n", "0 1\n1  2\n", "0 1 \n1 2\n", "# Nodes: 3 Edges: 2\n0 1\n1 2\n"])
def test_other_spaces_between_edges_are_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "edges.csv").write_text(text)
    with pytest.raises(SignError, match=r"edges\.csv"):
        read_edges(tmp_path / "edges.csv", NodeIds(3))


def test_ids_with_spaces_are_separated_by_something_else(tmp_path: Path) -> None:
    ids = NodeIds.of(Table(tmp_path, {"id": pa.chunked_array([["New York", "Los Angeles"]])}, 2))
    for separator in ",;|\t":
        (tmp_path / "edges.csv").write_text(f"New York{separator}Los Angeles\n")
        edges = read_edges(tmp_path / "edges.csv", ids)
        assert (edges.source.tolist(), edges.target.tolist()) == ([0], [1])
