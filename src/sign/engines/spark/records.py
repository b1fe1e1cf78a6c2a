"""Records that the driver, Parquet files and executors exchange: arrays as bytes, a few megabytes each."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sign.graph.csr import Array, Floats
from sign.system import arrays

SIZE = 1 << 22  # bytes of values in a record, or little more
BLOBS = ("rows", "indptr", "indices", "values")
SCHEMA = pa.schema(
    [("key", pa.int32()), ("kind", pa.int32()), ("other", pa.int32()), ("first", pa.int64())]
    + [(name, pa.binary()) for name in BLOBS]
)
DDL = "key int, kind int, other int, first long, rows binary, indptr binary, indices binary, values binary"


class Record(NamedTuple):
    """Four numbers, whose meaning each plan defines, and up to four arrays."""

    key: int
    kind: int = 0
    other: int = 0
    first: int = 0
    rows: Array | None = None
    indptr: Array | None = None
    indices: Array | None = None
    values: Array | None = None

    def floats(self, columns: int, dtype: str = "float32") -> Floats:
        """Return the values as rows of ``columns`` numbers."""
        return self.numbers("values", dtype).reshape(-1, columns)

    def numbers(self, blob: str, dtype: Any = np.int32) -> Array:
        """Return one of the arrays."""
        return np.frombuffer(getattr(self, blob), dtype)


def pack(record: Record) -> pa.RecordBatch:
    """Return a record as a batch that shares its arrays."""
    numbers = [pa.array([number], field.type) for number, field in zip(record[:4], SCHEMA, strict=False)]
    return pa.RecordBatch.from_arrays([*numbers, *map(_blob, record[4:])], schema=SCHEMA)


def _blob(array: Array | None) -> pa.Array:
    """Return the bytes of an array as one value; pyarrow's own conversion of a buffer never releases it."""
    if array is None:
        return pa.nulls(1, pa.binary())
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    offsets = np.array([0, len(content)], np.int32)
    return pa.Array.from_buffers(pa.binary(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(content)])


def unpack(batch: pa.RecordBatch) -> Iterator[Record]:
    """Yield the records of a batch; their arrays are views of it."""
    for row in range(batch.num_rows):
        numbers = [batch.column(index)[row].as_py() for index in range(4)]
        blobs = [batch.column(index)[row].as_buffer() for index in range(4, 8)]
        yield Record(*numbers, *blobs)


def pieces(rows: int, row_bytes: int) -> list[slice]:
    """Return slices of rows, each of about the size of a record."""
    return arrays.row_slices(rows, row_bytes, SIZE)
