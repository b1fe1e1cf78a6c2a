"""Columns of numbers, of arrays of numbers, or of sparse rows ▶ features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sign.datasets.custom.arrays import check_columns, check_float32
from sign.datasets.custom.tables import Column, Table
from sign.errors import SignError
from sign.graph.csr import Array, Floats

SPARSE = ("indices", "values")  # fields of a sparse column; ``size``, which Spark writes, may be there, too


def is_array(kind: Any) -> bool:
    """Return whether a type of Arrow is that of arrays of numbers."""
    import pyarrow as pa

    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return lists and any(
        test(kind.value_type) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    )


def is_sparse(kind: Any) -> bool:
    """Return whether a type of Arrow is that of sparse rows: a struct of indices and values."""
    import pyarrow as pa

    fields = {kind.field(number).name: kind.field(number).type for number in range(kind.num_fields)}
    return pa.types.is_struct(kind) and all(name in fields and is_array(fields[name]) for name in SPARSE)


@dataclass(frozen=True)
class DenseColumns:
    """Columns of numbers or arrays, by name, with the number of features of each; 0: the column is a number."""

    widths: dict[str, int]

    @classmethod
    def of(cls, sample: Table) -> "DenseColumns":
        """Read the lengths of arrays from the first rows of the table."""
        return cls({name: _width(sample, name) for name in sample.columns})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(
            feature
            for name, width in self.widths.items()
            for feature in ([f"{name}[{number}]" for number in range(width)] if width else [name])
        )

    def rows(self, table: Table, id_column: str) -> Floats:
        """Return the features of the rows of a table, NaN where they are missing."""
        rows, first = np.empty((table.rows, len(self.names)), np.float32), 0
        for name, width in self.widths.items():
            if width:
                values = array_rows(table, name, width, id_column)
            else:
                remedy = f"leave the column out with dataset.ignore=[{name}]"
                values = table.column(name).numbers(remedy)[:, None]
                check_float32(values.T, f"{table.file}, column {name}: the column")
            rows[:, first : first + max(width, 1)] = values
            first += max(width, 1)
        return rows


def array_rows(table: Table, name: str, width: int, id_column: str) -> Array:
    """Return a column of arrays of ``width`` numbers as a matrix of doubles, NaN where a number is missing."""
    import pyarrow.compute as pc

    column = table.columns[name]
    lengths = pc.list_value_length(column).fill_null(-1).to_numpy()
    if (wrong := np.flatnonzero(lengths != width)).size:
        node, length = _id_of(table, int(wrong[0]), id_column), int(lengths[wrong[0]])
        found = "no array" if length < 0 else f"an array of {length}"
        raise SignError(f"{table.file}, column {name}: node `{node}` has {found}, others one of {width}; write {width}")
    values = np.asarray(pc.list_flatten(column).cast("double").to_numpy()).reshape(-1, width)
    check_float32(values, f"{table.file}, column {name}: a row")
    return values


def sparse_rows(table: Table, name: str, id_column: str) -> tuple[Array, Array, Floats]:
    """Return the number of entries of each row of a sparse column, their columns, and their values."""
    import pyarrow.compute as pc

    column = table.columns[name]
    indices, values = (pc.struct_field(column, field) for field in SPARSE)
    lengths, others = (pc.list_value_length(part).fill_null(-1).to_numpy() for part in (indices, values))
    if (wrong := np.flatnonzero((lengths != others) | (lengths < 0))).size:
        node = _id_of(table, int(wrong[0]), id_column)
        raise SignError(f"{table.file}, column {name}: node `{node}` must have as many indices as values")
    stored = np.asarray(pc.list_flatten(values).cast("double").to_numpy())
    check_float32(stored[None], f"{table.file}, column {name}: the column")
    columns = Column.of(pc.list_flatten(indices), f"{table.file}, column {name}").integers()
    rows = np.repeat(np.arange(table.rows), lengths)
    order = np.lexsort((columns, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)
    if len(twice := order[:-1][same]):
        node, index = _id_of(table, int(rows[twice[0]]), id_column), columns[twice[0]]
        raise SignError(f"{table.file}, column {name}: node `{node}` has the index {index} twice; write each once")
    return lengths, columns, stored.astype(np.float32)


def sparse_size(table: Table, name: str) -> int:
    """Return the number of features of the rows of a sparse column: their size, or the largest index and one."""
    import pyarrow.compute as pc

    column = table.columns[name]
    if any(column.type.field(number).name == "size" for number in range(column.type.num_fields)):
        return int(pc.max(pc.struct_field(column, "size")).as_py() or 0)
    largest = pc.max(pc.list_flatten(pc.struct_field(column, "indices"))).as_py()
    return 0 if largest is None else int(largest) + 1


def check_indices(indices: Array, size: int, where: str) -> None:
    """Raise :class:`SignError` for an index that is no column."""
    check_columns(size, where)
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        index = indices.min() if indices.min() < 0 else indices.max()
        raise SignError(f"{where}: contains the index {index}, but there are {size} features; set dataset.feature_size")


def _width(sample: Table, name: str) -> int:
    """Return the length of the first array of a column, 0 for a column of numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = sample.columns[name]
    if not is_array(column.type):
        return 0
    if pa.types.is_fixed_size_list(column.type):
        return int(column.type.list_size)
    width = pc.max(pc.list_value_length(column)).as_py()
    if not width:
        raise SignError(f"{sample.file}, column {name}: its first rows have no numbers; write arrays of one length")
    check_columns(width, f"{sample.file}, column {name}")
    return int(width)


def _id_of(table: Table, row: int, id_column: str) -> str:
    return str(table.columns[id_column][row].as_py())
