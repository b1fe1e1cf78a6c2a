"""Sparse hops: three plain arrays, in CSR format, in place of one where few values are not zero.

A hop is stored so if :func:`sign.graph.features.is_worthwhile` says so. Its key does not depend on it: the values are
the same.
"""

from pathlib import Path

import numpy as np

from sign.graph.csr import Array
from sign.graph.features import SparseFeatures, is_worthwhile
from sign.graph.partition import row_pointers
from sign.store.folder import create_array
from sign.system import arrays
from sign.system.atomic_files import publish, temporary_file

PARTS = ("indptr", "indices", "values")
ENTRIES = "entries"  # the field of the manifest that a sparse hop has


def stays_sparse(array: Array, entries: int) -> bool:
    """Return whether an array with this number of values that are not zero is stored sparse.

    There are at least as many entries as columns, so that the files bound the columns that a manifest declares.
    """
    return array.ndim == 2 and array.shape[1] <= entries and is_worthwhile(array.size, entries)


def part_files(file: Path) -> list[Path]:
    """Return the files of a sparse hop whose dense array would be in ``file``."""
    return [file.with_name(f"{file.stem}-{part}.npy") for part in PARTS]


def write(file: Path, array: Array) -> SparseFeatures:
    """Write the values of a dense array that are not zero, block by block, and open them."""
    counts = [np.count_nonzero(array[part], axis=1) for part in arrays.chunks(array)]
    indptr = row_pointers(np.concatenate(counts))
    entries = int(indptr[-1])
    contents = {"int64": len(indptr), "int32": entries, str(array.dtype): entries}
    files = part_files(file)
    try:
        stored = [
            create_array(temporary_file(part), (size,), kind)
            for part, (kind, size) in zip(files, contents.items(), strict=True)
        ]
        stored[0][:] = indptr
        for rows in arrays.chunks(array):
            block, own = array[rows], slice(indptr[rows.start], indptr[rows.stop])
            places = block.nonzero()
            stored[1][own], stored[2][own] = places[1], block[places]
        for part, values in zip(files, stored, strict=True):
            values.flush()  # type: ignore[attr-defined]
            publish(part)
    finally:
        for part in files:
            temporary_file(part).unlink(missing_ok=True)
    return open_parts(file, array.shape[1])


def open_parts(file: Path, columns: int) -> SparseFeatures:
    """Memory-map a sparse hop.

    Raises
    ------
    ValueError
        If the files are not consistent with each other, or with the number of columns.
    """
    indptr, indices, values = map(arrays.open_npy, part_files(file))
    features = SparseFeatures(indptr, indices, columns, values)
    if not features.is_consistent() or columns > len(indices):
        raise ValueError(f"{file.stem} is not a sparse array with {columns} columns")
    return features
