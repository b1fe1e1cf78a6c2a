"""Parquet tables of one or many files, which are read in batches of rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.datasets.custom.tables import Table, check_column_names
from sign.datasets.raw_files import read_errors
from sign.errors import SignError

EXPECTED, REMEDY = "Parquet files", "write them again"
READ_ROWS = 1 << 16  # that the reader decodes at a time


def is_address(text: str) -> bool:
    """Return whether a text is the address of a file system, such as ``hdfs://host/edges``, and not a path."""
    return "://" in text


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """Parquet files with the same columns: those of a folder, or a single one.

    ``header`` is the table without rows. Names such as ``split=train`` of folders within the folder are columns, too.
    """

    address: str
    header: Table
    rows: int
    dataset: Any

    @classmethod
    def open(cls, address: str, setting: str) -> "ParquetFiles":
        """Open the files at ``address``, which is the value of ``setting``, and check that they have the same columns.

        Raises
        ------
        SignError
            If there are none, or one of them is damaged or has other columns.
        """
        import pyarrow.dataset

        with read_errors(f"{setting}={address}", EXPECTED, REMEDY):
            dataset = pyarrow.dataset.dataset(address, format="parquet", partitioning="hive")
            fragments = list(dataset.get_fragments())
            if not fragments:
                raise SignError(f"{setting}={address}: the folder contains no Parquet files")
            first = fragments[0]
            for fragment in fragments[1:]:
                _check_same_columns(first, fragment)
            check_column_names(address, dataset.schema.names)
            header = _table(address, dataset.schema.empty_table())
            return cls(address, header, sum(fragment.metadata.num_rows for fragment in fragments), dataset)

    def tables(self, names: Sequence[str], rows: int) -> Iterator[Table]:
        """Yield some columns in tables of at least ``rows`` rows, except for the last one."""
        import pyarrow as pa

        batches: list[Any] = []
        options = {"batch_size": min(rows, READ_ROWS), "batch_readahead": 1, "fragment_readahead": 1}
        with read_errors(self.address, EXPECTED, REMEDY):
            for batch in self.dataset.to_batches(columns=list(dict.fromkeys(names)), **options):
                batches.append(batch)
                if sum(batch.num_rows for batch in batches) >= rows:
                    yield _table(self.address, pa.Table.from_batches(batches))
                    batches = []
            if batches:
                yield _table(self.address, pa.Table.from_batches(batches))

    def read(self, names: Sequence[str]) -> Table:
        """Return some columns as a whole."""
        with read_errors(self.address, EXPECTED, REMEDY):
            return _table(self.address, self.dataset.to_table(columns=list(names), batch_readahead=1))

    def local_files(self) -> list[Path]:
        """Return the paths of the files on this machine, in order; none for other file systems."""
        from pyarrow.fs import LocalFileSystem, SubTreeFileSystem

        system = self.dataset.filesystem
        local = isinstance(system.base_fs if isinstance(system, SubTreeFileSystem) else system, LocalFileSystem)
        return [Path(file) for file in self.dataset.files] if local else []


def _table(address: str, table: Any) -> Table:
    return Table(address, dict(zip(table.column_names, table.columns, strict=True)), table.num_rows)


def _check_same_columns(first: Any, other: Any) -> None:
    """Raise :class:`SignError` unless two files have columns of the same names and types."""
    one, two = ({field.name: field.type for field in file.physical_schema} for file in (first, other))
    for name in one.keys() | two.keys():
        if one.get(name) != two.get(name):
            here, there = (f"as {kind}" if kind else "not" for kind in (one.get(name), two.get(name)))
            raise SignError(
                f"{other.path}: has the column {name} {there}, {first.path} {here}; "
                "write all files of a table with the same columns"
            )
