"""Files of the user: how they are located, and arrays of numpy and scipy, which are never unpickled."""

from pathlib import Path

import numpy as np

from sign.datasets.raw_files import read_errors
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.features import SparseFeatures
from sign.system import arrays

NUMERIC = "biuf"  # kinds of dtypes: bool, integer and float
SPARSE = ("csr", "csc", "coo")
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
        array = np.lib.format.open_memmap(file, mode="r").view(np.ndarray)
        if array.dtype.kind not in NUMERIC + "U":
            raise SignError(f"{file}: contains {array.dtype}; save numbers or text")
        return array


def dense_features(array: Array, file: Path) -> Floats:
    """Convert features to float32 within the memory budget; float32 arrays are returned as they are."""
    if array.ndim != 2 or array.dtype.kind not in NUMERIC:
        raise SignError(
            f"{file}: contains {array.dtype} of shape {array.shape}; features must be numbers, (nodes, columns)"
        )
    if array.dtype == np.float32:
        return array
    with np.errstate(over="ignore"):  # infinite values are refused by Graph
        return arrays.copy_rows(array, dtype=np.float32)


def sparse_features(file: Path, nodes: int) -> SparseFeatures:
    """Read features from a ``.npz`` file of ``scipy.sparse.save_npz``; they stay sparse."""
    import scipy.sparse

    with read_errors(file, "a sparse matrix of scipy", REMEDY), file.open("rb") as stream:
        matrix = scipy.sparse.load_npz(stream)
        if matrix.format not in SPARSE or matrix.ndim != 2 or matrix.dtype.kind not in NUMERIC:
            raise SignError(
                f"{file}: contains {matrix.dtype} as {matrix.format}; save real numbers as {', '.join(SPARSE)}"
            )
        if matrix.format != "coo":
            matrix.check_format(full_check=True)  # an index beyond the shape would write out of bounds
        check_rows(matrix.shape[0], nodes, file)
        rows = matrix.tocsr()
        rows.sum_duplicates()  # also sorts: equal features have equal digests
        with np.errstate(over="ignore"):  # infinite values are refused by Graph
            values = rows.data.astype(np.float32)
    return SparseFeatures(rows.indptr.astype(np.int64), rows.indices, rows.shape[1], values)


def check_rows(rows: int, nodes: int, file: Path) -> None:
    """Raise :class:`SignError` unless a file has one row per node."""
    if rows != nodes:
        raise SignError(f"{file}: has {rows} rows for {nodes} nodes; write one row per node")
