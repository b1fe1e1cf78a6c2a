"""Files of predictions: Parquet and CSV tables, or one numpy array; written in blocks, atomically."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sign.errors import SignError, reason
from sign.graph.csr import Array
from sign.prediction.settings import ARRAY
from sign.system.atomic_files import publish, temporary_file

LIST_SEPARATOR = "|"  # between the labels of a cell in CSV
Columns = Mapping[str, Array | list[Any]]


@contextlib.contextmanager
def writing(file: Path) -> Iterator[Path]:
    """Yield the temporary file of ``file``, which takes its name only if the block succeeds."""
    temporary = temporary_file(file)
    with _errors(file):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            publish(file)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def check_writable(file: Path) -> None:
    """Raise unless the file can be written, before anything is computed for it."""
    with _errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary_file(file).touch()
        temporary_file(file).unlink()


@contextlib.contextmanager
def _errors(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = "not a folder" if isinstance(error, FileExistsError) else reason(error).lower()
        raise SignError(f"output={file}: cannot be written ({why}); choose another file") from error


def write_table(file: Path, blocks: Iterator[Columns]) -> None:
    """Write blocks of columns as Parquet or CSV, by the ending of ``file``."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    open_writer: Callable[..., Any] = pa.csv.CSVWriter if file.suffix == ".csv" else pa.parquet.ParquetWriter
    with writing(file) as temporary, contextlib.ExitStack() as stack:
        writer: Any = None
        for columns in blocks:
            table = pa.table({name: _cells(values, file) for name, values in columns.items()})
            if writer is None:
                writer = stack.enter_context(open_writer(str(temporary), table.schema))
            writer.write_table(table)


def _cells(values: Array | list[Any], file: Path) -> Array | list[Any]:
    """The cells of a column; CSV has no lists."""
    if file.suffix == ".csv" and isinstance(values, list):
        return [LIST_SEPARATOR.join(cell) for cell in values]
    return values


def write_array(file: Path, rows: int, blocks: Iterator[tuple[slice, Array]]) -> None:
    """Write blocks of rows as one ``.npy`` array."""
    with writing(file) as temporary:
        array: Any = None
        for part, values in blocks:
            if array is None:
                shape = (rows, *values.shape[1:])
                array = np.lib.format.open_memmap(temporary, mode="w+", dtype=values.dtype, shape=shape)
            array[part] = values
        if array is None:
            np.save(temporary, np.empty(0), allow_pickle=False)
        else:
            array.flush()


__all__ = ["ARRAY", "write_array", "write_table"]
