"""Parquet and text tables, and their columns as numbers, text or booleans."""

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import REMEDY
from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.system import arrays

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
TABLES = (".parquet", *TEXT)
BLOCK = 1 << 24  # bytes of text that are parsed at a time; a line must not be longer
INDEX = "__index_level_"  # how pandas names an index that it stores as a column


@dataclass(frozen=True, eq=False)
class Column:
    """A chunked Arrow array of text, int64, double or bool; text is trimmed, and empty text is null."""

    values: Any
    where: str

    @classmethod
    def of(cls, values: Any, where: str) -> "Column":
        """Convert an Arrow column or a numpy array to one of the types of the class."""
        import pyarrow as pa
        import pyarrow.compute as pc

        with read_errors(where, "a column", REMEDY):
            if isinstance(values, np.ndarray):
                values = pa.chunked_array([pa.array(values, from_pandas=True)])
            if pa.types.is_dictionary(values.type):
                values = values.cast(values.type.value_type)
            kind = values.type
            if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
                values = pc.utf8_trim_whitespace(values.cast(pa.string()))
                values = pc.if_else(pc.equal(values, ""), pa.scalar(None, pa.string()), values)
            elif pa.types.is_integer(kind):
                values = values.cast(pa.int64())
            elif pa.types.is_floating(kind):
                values = values.cast(pa.float64())
                values = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values)
            elif not pa.types.is_boolean(kind):
                raise SignError(f"{where}: contains {kind}; it must be numbers or text")
        return cls(values, where)

    @property
    def is_text(self) -> bool:
        """Whether it contains text."""
        return str(self.values.type) == "string"

    def numbers(self) -> Array:
        """Return doubles, NaN for empty cells."""
        return np.asarray(self.cast("double", "a number").to_numpy())

    def integers(self) -> Array:
        """Return integers; raise :class:`SignError` for an empty cell."""
        if self.values.null_count:
            raise SignError(f"{self.where}: row {self.first_null()} is empty; it must be an integer")
        return np.asarray(self.cast("int64", "an integer").to_numpy())

    def first_null(self) -> int:
        """Return the first row with an empty cell, counted from 0."""
        import pyarrow.compute as pc

        return int(pc.index(pc.is_null(self.values), value=True).as_py())

    def cast(self, kind: str, what: str) -> Any:
        """Convert the values to another type; raise :class:`SignError` if one cannot be converted."""
        import pyarrow as pa

        try:
            return self.values.cast(kind)
        except pa.ArrowInvalid as error:
            raise SignError(f"{self.where}: not every cell is {what} ({error})") from error


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a file by name; without a ``header`` the names are "0", "1", …"""

    file: Path
    columns: dict[str, Any]
    header: bool = True

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def column(self, name: str) -> Column:
        """Return a column."""
        return Column.of(self.columns[name], f"{self.file}, column {name}")

    def pick(self, names: Collection[str]) -> str | None:
        """Return the column with one of these names, ignoring case, if any."""
        matches = [name for name in self.columns if name.lower() in names]
        if len(matches) > 1:
            raise SignError(f"{self.file}: the columns {' and '.join(matches)} mean the same; keep one")
        return matches[0] if matches else None

    def matrix(self, names: Collection[str]) -> Floats:
        """Return columns as a float32 matrix, NaN for empty cells."""
        matrix = arrays.empty((self.rows, len(names)), np.float32)
        with np.errstate(over="ignore"):  # infinite values are refused by Graph
            for position, name in enumerate(names):
                matrix[:, position] = self.column(name).numbers()
        return matrix


def read_table(file: Path, is_header: Callable[[set[str]], bool] = bool) -> Table:
    """Read a table; ``is_header`` decides by its lower-case cells whether the first line of text is a header."""
    with read_errors(file, "a table", REMEDY):
        if file.suffix == ".parquet":
            import pyarrow.parquet as pq

            table, header = pq.ParquetFile(file, memory_map=True).read(), True
            names = table.column_names
            _check_names(file, names)
        else:
            header, names = _first_line(file, is_header)
            table = _read_text(file, names, header)
    return Table(file, dict(zip(names, table.columns, strict=True)), header)


def _first_line(file: Path, is_header: Callable[[set[str]], bool]) -> tuple[bool, list[str]]:
    """Return whether there is a header, and the names of the columns."""
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8-sig", newline="") as stream:
        line = stream.readline()
    cells = [cell.strip() for row in csv.reader([line], delimiter=_delimiter(file)) for cell in row]
    if not any(cells):
        raise SignError(f"{file}: the file or its first line is empty; write a table")
    if not is_header({cell.lower() for cell in cells}):
        return False, [str(position) for position in range(len(cells))]
    _check_names(file, cells)
    return True, cells


def _read_text(file: Path, names: list[str], header: bool) -> Any:
    """Read all columns as text: what looks like a number may be an id, such as 007."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    return arrow.read_csv(
        str(file),
        arrow.ReadOptions(column_names=names, skip_rows=int(header), block_size=BLOCK),
        # In a file of one column an empty line is a row with an empty cell.
        arrow.ParseOptions(delimiter=_delimiter(file), ignore_empty_lines=len(names) > 1),
        arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )


def _delimiter(file: Path) -> str:
    return "\t" if file.name.endswith((".tsv", ".tsv.gz")) else ","


def _check_names(file: Path, names: list[str]) -> None:
    """Raise :class:`SignError` for missing or duplicate names, or an index of pandas, which is no feature."""
    if not names:
        raise SignError(f"{file}: has no columns")
    if any(not name or name.startswith(INDEX) for name in names):
        raise SignError(f"{file}: a column has no name; write the table without its index")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise SignError(f"{file}: the column {name} is duplicated ({count} times); rename all but one")
