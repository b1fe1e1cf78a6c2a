"""Parquet files of a folder are one table, read in batches."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from common.parquet_tables import write_files

from sign.datasets.custom.parquet.files import ParquetFiles
from sign.errors import SignError


def test_batches_have_at_least_the_rows_asked_for_whatever_the_files(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": np.arange(100), "b": np.ones(100)}, files=9)
    (tmp_path / "_SUCCESS").touch()
    files = ParquetFiles.open(str(tmp_path), "dataset.nodes")
    assert (files.rows, list(files.header.columns)) == (100, ["a", "b"])
    tables = list(files.tables(["a"], 30))
    assert all(table.rows >= 30 for table in tables[:-1])
    assert len(tables) == 3
    assert sorted(value for table in tables for value in table.columns["a"].to_pylist()) == list(range(100))


def test_a_single_file_and_an_address_are_tables(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")
    for address in (tmp_path / "x.parquet").as_uri(), str(tmp_path / "x.parquet"), tmp_path.as_uri():
        files = ParquetFiles.open(address, "dataset.nodes")
        assert files.read(["a"]).columns["a"].to_pylist() == [1]
        assert files.local_files() == [tmp_path / "x.parquet"]


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": [1], "b": [1.0]}), tmp_path / "0.parquet")
    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "1.parquet")
    with pytest.raises(SignError, match=r"1.parquet: has the column b not, .*0.parquet as double; write all files"):
        ParquetFiles.open(str(tmp_path), "dataset.nodes")
    pa.parquet.write_table(pa.table({"a": ["1"], "b": [1.0]}), tmp_path / "1.parquet")
    with pytest.raises(SignError, match=r"1.parquet: has the column a as string, .*0.parquet as int64"):
        ParquetFiles.open(str(tmp_path), "dataset.nodes")


def test_a_folder_without_files_and_a_damaged_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SignError, match=r"dataset.edges=.*: the folder contains no Parquet files"):
        ParquetFiles.open(str(tmp_path), "dataset.edges")
    (tmp_path / "0.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(SignError, match=r"dataset.edges=.*: cannot be read as Parquet files"):
        ParquetFiles.open(str(tmp_path), "dataset.edges")
