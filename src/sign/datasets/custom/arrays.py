"""Files of the user: how they are located, and arrays of numpy, which are never unpickled."""

from pathlib import Path

import numpy as np

from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.system import arrays

NUMERIC = "biuf"  # kinds of dtypes: bool, integer and float
MAX_COLUMNS = 1 << 20  # of features: every hop is a dense array
REMEDY = "write it again"


def find_file(folder: Path, name: str, setting: str | None, endings: tuple[str, ...]) -> Path | None:
    """Return the file of the setting ``dataset.<name>``, or the one with the conventional name, if any."""
    if setting is not None:
        file = folder / setting
        if not file.name.endswith(endings):
            raise SignError(f"dataset.{name}={setting}: must end with {' or '.join(endings)}")
        if not file.is_file():
            raise SignError(f"dataset.{name}={setting}: there is no file {file}")
        return file
    files = [file for ending in endings if (file := folder / f"{name}{ending}").is_file()]
    if len(files) > 1:
        raise SignError(
            f"{folder}: has {files[0].name} and {files[1].name}; keep one, or select one with dataset.{name}"
        )
    return files[0] if files else None


def read_array(file: Path) -> Array:
    """Return the memory map of a ``.npy`` file of numbers or text."""
    with read_errors(file, "a numpy array", REMEDY):
        array = arrays.open_npy(file).view(np.ndarray)
        if array.dtype.kind not in NUMERIC + "U":
            raise SignError(f"{file}: contains {array.dtype}; save numbers or text")
        if array.size and not array.itemsize:  # any number of rows without a byte in the file
            raise SignError(f"{file}: contains {array.size} empty texts; save numbers or text")
        return array


def dense_features(array: Array, file: Path) -> Floats:
    """Convert features to float32 within the memory budget; float32 arrays are returned as they are."""
    if array.ndim != 2 or array.dtype.kind not in NUMERIC:
        raise SignError(
            f"{file}: contains {array.dtype} of shape {array.shape}; features must be numbers, (nodes, columns)"
        )
    check_columns(array.shape[1], file)
    if array.dtype == np.float32:
        return array
    for rows in arrays.chunk_slices(array):
        check_float32(array[rows], f"{file}: a row")
    return arrays.copy_rows(array, dtype=np.float32)


def check_float32(rows: Array, what: str) -> None:
    """Raise :class:`SignError` if float32 cannot hold the largest value of a row: it would be infinite, or zero."""
    if rows.dtype.kind != "f" or not rows.size:
        return
    largest = np.abs(np.where(np.isfinite(rows), rows, 0)).max(axis=1)  # others are refused by Graph
    with np.errstate(over="ignore"):
        stored = largest.astype(np.float32)
    for value in largest[np.isinf(stored) | ((stored == 0) & (largest > 0))]:
        kind = "infinite" if value > 1 else "zero"
        raise SignError(
            f"{what} has {value:.3g} as its largest value, which is {kind} in float32; rescale the features"
        )


def check_rows(rows: int, nodes: int, file: Path) -> None:
    """Raise :class:`SignError` unless a file has one row per node."""
    if rows != nodes:
        raise SignError(f"{file}: has {rows} rows for {nodes} nodes; write one row per node")


def check_columns(columns: int, file: Path | str) -> None:
    """Raise :class:`SignError` for more columns of features than a hop can have."""
    if columns > MAX_COLUMNS:
        raise SignError(
            f"{file}: has {columns:,} columns; features have at most {MAX_COLUMNS:,}, since hops are dense arrays; "
            "reduce them first, for example by a truncated SVD"
        )
