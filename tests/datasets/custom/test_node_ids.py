"""Ids are unique and become indices; without ids, nodes are numbered."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.tables import Column, read_table
from sign.errors import SignError


def ids_of(folder: Path, text: str) -> NodeIds:
    (folder / "nodes.csv").write_text(text)
    return NodeIds.of(read_table(folder / "nodes.csv"))


def test_ids_become_indices(tmp_path: Path) -> None:
    ids = ids_of(tmp_path, "id,x\nb,1\na,2\n10,3\n")
    assert ids.indices(Column.of(np.array(["10", "b", "b"]), "x")).tolist() == [2, 0, 0]
    assert ids.indices(Column.of(np.array([10]), "x")).tolist() == [2]
    assert ids.contains("a")
    assert not ids.contains("c")
    with pytest.raises(SignError, match="edges: 'c' is not the id of a node"):
        ids.indices(Column.of(np.array(["c"]), "edges"))


def test_nodes_without_ids_are_numbered(tmp_path: Path) -> None:
    ids = ids_of(tmp_path, "x,y\n1,2\n3,4\n")
    assert ids.nodes == 2
    assert ids.indices(Column.of(np.array(["1", "0"]), "x")).tolist() == [1, 0]
    assert not ids.contains("0")


@pytest.mark.parametrize(("text", "message"), [("id\na\na\n", "a is duplicated"), ("id,x\n,1\n", "row 0 has no id")])
def test_wrong_ids_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SignError, match=message):
        ids_of(tmp_path, text)


def test_rows_of_another_table_are_sorted_by_id(tmp_path: Path) -> None:
    ids = ids_of(tmp_path, "id\nb\na\n")
    (tmp_path / "labels.csv").write_text("id,label\na,1\nb,0\n")
    table = ids.sort_rows(read_table(tmp_path / "labels.csv"))
    assert list(table.columns) == ["label"]
    assert table.column("label").integers().tolist() == [0, 1]
