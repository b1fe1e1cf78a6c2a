"""Which file holds what, and numpy's and scipy's files, which are never unpickled."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.features import SparseFeatures
from sign.system import arrays

NUMBERS = "biuf"  # numpy's kinds of truth values and real numbers
SPARSE = ("csr", "csc", "coo")


@contextmanager
def opened(file: Path | str, what: str) -> Iterator[None]:
    """Turn whatever a damaged file makes a library raise, which can be almost anything, into one sentence."""
    try:
        yield
    except SignError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise SignError(f"{file}: cannot be read as {what} ({reason}); write it again") from error


def find(folder: Path, name: str, given: str | None, endings: tuple[str, ...]) -> Path | None:
    """The file that the setting ``dataset.<name>`` gives, or the one that has this name by convention."""
    if given is not None:
        file = folder / given
        if not file.name.endswith(endings):
            raise SignError(f"dataset.{name}={given}: must end with {' or '.join(endings)}")
        if not file.is_file():
            raise SignError(f"dataset.{name}={given}: there is no file {file}")
        return file
    found = [file for ending in endings if (file := folder / f"{name}{ending}").is_file()]
    if len(found) > 1:
        raise SignError(
            f"{folder}: has {found[0].name} and {found[1].name}; keep one of them, or choose by dataset.{name}"
        )
    return found[0] if found else None


def read_array(file: Path) -> Array:
    """A ``.npy`` file as a memory map."""
    with opened(file, "an array of numpy"):
        array = np.lib.format.open_memmap(file, mode="r").view(np.ndarray)
        if array.dtype.kind not in NUMBERS + "U":
            raise SignError(f"{file}: holds {array.dtype}; save numbers or text")
        return array


def dense_features(array: Array, file: Path) -> Floats:
    """Features as float32; those that are already, and mapped, stay where they are."""
    if array.ndim != 2 or array.dtype.kind not in NUMBERS:
        raise SignError(
            f"{file}: {array.dtype} of shape {array.shape}; features are numbers, nodes × columns"
        )
    if array.dtype == np.float32:
        return array
    features = arrays.empty(array.shape, np.float32)
    with np.errstate(over="ignore"):  # the graph refuses what has become infinite
        for part in arrays.chunks(array):
            features[part] = array[part]
            arrays.release(features[part])
    return features


def sparse_features(file: Path, nodes: int) -> SparseFeatures:
    """Features of a ``.npz`` file that ``scipy.sparse.save_npz`` wrote, which stay sparse."""
    import scipy.sparse

    with opened(file, "a sparse matrix of scipy"), file.open("rb") as stream:
        matrix = scipy.sparse.load_npz(stream)
        if matrix.format not in SPARSE or matrix.ndim != 2 or matrix.dtype.kind not in NUMBERS:
            raise SignError(
                f"{file}: holds {matrix.dtype} as {matrix.format}; save real numbers as {', '.join(SPARSE)}"
            )
        if matrix.format != "coo":
            matrix.check_format(full_check=True)  # an index beyond the shape would be written anywhere
        check_rows(matrix.shape[0], nodes, file)
        rows = matrix.tocsr()
        rows.sum_duplicates()  # which sorts, too: equal features are to have equal digests
        with np.errstate(over="ignore"):  # the graph refuses what has become infinite
            values = rows.data.astype(np.float32)
    return SparseFeatures(rows.indptr.astype(np.int64), rows.indices, rows.shape[1], values)


def check_rows(rows: int, nodes: int, file: Path) -> None:
    """Refuse a file that has another number of rows than there are nodes."""
    if rows != nodes:
        raise SignError(f"{file}: has {rows} rows for {nodes} nodes; write one row for each node")
