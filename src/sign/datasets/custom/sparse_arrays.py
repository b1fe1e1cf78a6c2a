"""Sparse matrices of scipy, whose declared sizes are checked before anything is allocated."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sign.datasets.custom.arrays import NUMERIC, REMEDY, check_columns, check_float32, check_rows
from sign.datasets.raw_files import NpzArray, read_errors
from sign.errors import SignError
from sign.graph.features import SparseFeatures

if TYPE_CHECKING:
    import scipy.sparse

EXPECTED = "a sparse matrix of scipy"
INDICES = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def sparse_features(file: Path, nodes: int) -> SparseFeatures:
    """Read features from a ``.npz`` file of ``scipy.sparse.save_npz``; they stay sparse."""
    with read_errors(file, EXPECTED, REMEDY):
        shape = sparse_shape(file)
        check_rows(shape[0], nodes, file)
        check_columns(shape[1], file)
        rows = _read_matrix(file, shape).tocsr()
        rows.sum_duplicates()  # also sorts: equal features have equal digests
        check_float32(rows.data[None], f"{file}: the matrix")
        values = rows.data.astype(np.float32)
    return SparseFeatures(rows.indptr.astype(np.int64), rows.indices, shape[1], values)


def sparse_shape(file: Path) -> tuple[int, int]:
    """Read the declared numbers of rows and columns."""
    with read_errors(file, EXPECTED, REMEDY):
        shape = tuple(_member(file, "shape", "iu", 1).read().tolist())
        if len(shape) != 2:
            raise SignError(f"{file}: has shape {shape}; features must have shape (nodes, columns)")
        return shape


def _read_matrix(file: Path, shape: tuple[int, int]) -> "scipy.sparse.sparray":
    """Read a matrix of this shape and check its indices: one beyond the shape would write out of bounds."""
    import scipy.sparse

    form = _member(file, "format", "SU", 0).read().item()
    form = form.decode("ascii") if isinstance(form, bytes) else form
    if form not in INDICES:
        raise SignError(f"{file}: contains a matrix in the format {form}; save it as {', '.join(INDICES)}")
    values, first, second = (
        _member(file, name, kinds, 1).read()
        for name, kinds in zip(("data", *INDICES[form]), (NUMERIC, "iu", "iu"), strict=True)
    )
    if form == "coo":
        return scipy.sparse.coo_array((values, (first, second)), shape)  # checks the indices itself
    matrix = getattr(scipy.sparse, f"{form}_array")((values, first, second), shape)
    matrix.check_format(full_check=True)
    return matrix


def _member(file: Path, name: str, kinds: str, dimensions: int) -> NpzArray:
    return NpzArray.open(file, name, kinds, dimensions, (EXPECTED, REMEDY))
