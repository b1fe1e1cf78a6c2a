"""Parquet and text tables, and their columns as numbers, text or booleans."""

import logging
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import REMEDY
from sign.datasets.custom.text_files import TEXT, encoding_errors, first_line, read_text
from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.csr import Array

TABLES = (".parquet", *TEXT)
INDEX = "__index_level_"  # how pandas names an index that it stores as a column
# cells of text, in lower case, that programs write where a value is missing
MISSING = ("nan", "-nan", "none", "null", "na", "n/a", "#n/a", "<na>", "?", "-")
log = logging.getLogger(__name__)


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

    def known(self) -> "Column":
        """Return the column with null in place of text that marks a missing value, such as NA."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.is_text:
            return self
        missing = pc.is_in(pc.utf8_lower(self.values), value_set=pa.array(MISSING))
        marked = self.values.filter(missing)
        if not len(marked):
            return self
        markers = ", ".join(f"`{marker}`" for marker in sorted(marked.unique().to_pylist()))
        log.info("%s: missing values: %d, marked by %s", self.where, len(marked), markers)
        return replace(self, values=pc.if_else(missing, pa.scalar(None, pa.string()), self.values))

    def numbers(self, advice: str = "") -> Array:
        """Return doubles, NaN for missing ones."""
        return np.asarray(self.known().cast("double", "a number", advice).to_numpy())

    def integers(self) -> Array:
        """Return integers; raise :class:`SignError` for an empty cell, booleans and notations such as 0x1."""
        import pyarrow.compute as pc

        if self.values.null_count:
            raise SignError(f"{self.where}: row {self.first_null()} is empty; it must be an integer")
        if str(self.values.type) == "bool":
            raise SignError(f"{self.where}: contains true and false; it must be integers")
        if self.is_text:
            others = self.values.filter(pc.invert(pc.match_substring_regex(self.values, r"^[+-]?[0-9]+$")))
            if len(others):
                raise SignError(f"{self.where}: not every cell is an integer (such as {others[0].as_py()!r})")
        return np.asarray(self.cast("int64", "an integer").to_numpy())

    def first_null(self) -> int:
        """Return the first row with an empty cell, counted from 0."""
        import pyarrow.compute as pc

        return int(pc.index(pc.is_null(self.values), value=True).as_py())

    def cast(self, kind: str, what: str, advice: str = "") -> Any:
        """Convert the values to another type; raise :class:`SignError` if one cannot be converted."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            return self.values.cast(kind)
        except pa.ArrowInvalid as error:
            if self.is_text and pc.any(pc.match_substring_regex(self.values, r"^[+-]?[0-9]+,[0-9]+$")).as_py():
                advice = "write a point in place of the decimal comma"
            raise SignError(f"{self.where}: not every cell is {what} ({error}){advice and f'; {advice}'}") from error


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a file, or of a folder of files, by name; without a ``header`` the names are "0", "1", …"""

    file: Path | str
    columns: dict[str, Any]
    rows: int
    header: bool = True

    def column(self, name: str) -> Column:
        """Return a column."""
        return Column.of(self.columns[name], f"{self.file}, column {name}")

    def pick(self, names: Collection[str]) -> str | None:
        """Return the column with one of these names, ignoring case, if any."""
        matches = [name for name in self.columns if name.lower() in names]
        if len(matches) > 1:
            raise SignError(f"{self.file}: the columns {' and '.join(matches)} mean the same; keep one")
        return matches[0] if matches else None

    def without(self, names: Collection[str]) -> "Table":
        """Return the table without some columns."""
        return replace(self, columns={name: column for name, column in self.columns.items() if name not in names})


def read_table(
    file: Path,
    is_header: Callable[[set[str]], bool] = bool,
    is_row: Callable[[set[str]], bool] = bool,
    spaces: bool = False,
) -> Table:
    """Read a table.

    ``is_header`` decides by its lower-case cells whether the first line of text is a header, ``is_row`` whether they
    are plausible, if the separator is not the usual one. With ``spaces``, that may be a space.
    """
    with read_errors(file, "a table", REMEDY):
        if file.suffix == ".parquet":
            import pyarrow.parquet as pq

            table, header = pq.ParquetFile(file, memory_map=True).read(), True
            names = table.column_names
            check_column_names(file, names)
        else:
            with encoding_errors(file):
                names, separator = first_line(file, is_row, spaces)
                header = _is_header(file, names, is_header)
                names = names if header else [str(position) for position in range(len(names))]
                table = read_text(file, names, separator, header)
    return Table(file, dict(zip(names, table.columns, strict=True)), table.num_rows, header)


def _is_header(file: Path, cells: list[str], is_header: Callable[[set[str]], bool]) -> bool:
    if not any(cells):
        raise SignError(f"{file}: the file or its first line is empty; write a table")
    header = is_header({cell.lower() for cell in cells})
    if header:
        check_column_names(file, cells)
    return header


def check_column_names(file: Path | str, names: list[str]) -> None:
    """Raise :class:`SignError` for missing or duplicate names, or an index of pandas, which is no feature."""
    if not names:
        raise SignError(f"{file}: has no columns")
    if any(not name or name.startswith(INDEX) for name in names):
        raise SignError(f"{file}: a column has no name; write the table without its index")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise SignError(f"{file}: the column {name} is duplicated ({count} times); rename all but one")
