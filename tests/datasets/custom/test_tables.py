"""Columns have one of four types, and tables are read the same from text and Parquet."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sign.datasets.custom.tables import Column, read_table
from sign.errors import SignError


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (np.array([1, 2], np.uint8), "int64", [1, 2]),
        (np.array([0.5, np.nan]), "double", [0.5, None]),
        (np.array([" a ", ""]), "string", ["a", None]),
        (np.array([True, False]), "bool", [True, False]),
    ],
)
def test_values_are_converted_to_few_types(values: np.ndarray, kind: str, expected: list) -> None:
    column = Column.of(values, "x")
    assert str(column.values.type) == kind
    assert column.values.to_pylist() == expected


def test_empty_cells_are_nan_but_no_integers() -> None:
    column = Column.of(np.array(["1", ""]), "file, column x")
    np.testing.assert_array_equal(column.numbers(), [1, np.nan])
    with pytest.raises(SignError, match="file, column x: row 1 is empty; it must be an integer"):
        column.integers()


def test_text_and_parquet_give_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,x\n007,1.5\n8,\n")
    (tmp_path / "b.tsv").write_text("id\tx\n007\t1.5\n8\t\n")
    pq.write_table(pa.table({"id": ["007", "8"], "x": [1.5, None]}), tmp_path / "c.parquet")
    for name in ("a.csv", "b.tsv", "c.parquet"):
        table = read_table(tmp_path / name)
        assert table.header
        assert table.column("id").values.to_pylist() == ["007", "8"]
        np.testing.assert_array_equal(table.column("x").numbers(), [1.5, np.nan])


def test_a_table_without_a_header_has_numbered_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,1\n1,2\n")
    table = read_table(tmp_path / "a.csv", is_header=lambda cells: False)
    assert (table.header, list(table.columns), table.rows) == (False, ["0", "1"], 2)


def test_a_column_is_picked_by_any_of_its_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ID,x\n0,1\n")
    table = read_table(tmp_path / "a.csv")
    assert table.pick(("id", "node")) == "ID"
    assert table.pick(("label",)) is None
    with pytest.raises(SignError, match="the columns ID and x mean the same"):
        table.pick(("id", "x"))
