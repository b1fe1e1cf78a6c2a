"""Node features, and hops of them, that stay sparse until a block of them is read."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.graph.csr import Array, Floats
from sign.graph.partition import entries_of, is_indptr, row_pointers
from sign.system import arrays
from sign.system.hashing import digest

MIN_BYTES = 1 << 25  # of a dense array; a smaller one is worth no other format
MAX_DENSITY = 0.1  # of rows that are stored and multiplied as sparse ones; denser ones are faster as dense arrays


def is_worthwhile(size: int, entries: int) -> bool:
    """Return whether a sparse matrix takes less memory and time: if it is large, and few values are not zero."""
    return 4 * size >= MIN_BYTES and entries <= MAX_DENSITY * size


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Sparse node features, such as bags of words, in CSR format; indexing returns dense blocks.

    Binary features need no array of values, which ``scipy.sparse`` would require.

    Parameters
    ----------
    indptr, indices
        Where each row begins, and its columns, which are unique within a row.
    columns
        Number of columns.
    values
        The values; None if all entries are one.

    Examples
    --------
    >>> words = SparseFeatures(np.array([0, 2, 3]), np.array([0, 2, 1]), columns=3)
    >>> words[:2]
    array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """

    indptr: NDArray[np.int64]
    indices: Array
    columns: int
    values: Floats | None = None

    ndim = 2

    @classmethod
    def from_blocks(cls, blocks: Iterable[Array], columns: int) -> "SparseFeatures":
        """Return the values of consecutive dense blocks of rows that are not zero, as float32."""
        lengths, indices, values = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
        for block in blocks:
            rows, own = block.nonzero()
            lengths.append(np.bincount(rows, minlength=len(block)))
            indices.append(own.astype(np.int32))
            values.append(block[rows, own].astype(np.float32, copy=False))
        return cls(row_pointers(np.concatenate(lengths)), np.concatenate(indices), columns, np.concatenate(values))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return np.dtype(np.float32) if self.values is None else self.values.dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.columns

    @property
    def size(self) -> int:
        """Number of elements of the dense matrix."""
        return len(self) * self.columns

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in (self.indptr, self.indices, self.values) if array is not None)

    @property
    def is_worthwhile(self) -> bool:
        """Whether the matrix is better kept sparse."""
        return is_worthwhile(self.size, len(self.indices))

    @cached_property
    def digest(self) -> str:
        """Content hash of the matrix."""
        return digest(self.indptr, self.indices, np.array([self.columns]), self.values)

    def is_consistent(self) -> bool:
        """Return whether the arrays have the right types, and rows and columns that exist."""
        kinds = self.indptr.dtype == np.int64 and self.indices.dtype.kind == "i"
        if not kinds or not is_indptr(self.indptr, len(self.indices)):
            return False
        if self.values is not None and self.values.shape != self.indices.shape:
            return False
        return not len(self.indices) or bool(self.indices.min() >= 0 and self.indices.max() < self.columns)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, key: slice | Array | tuple[slice | Array, slice]) -> Floats:
        """Return a dense block of some rows and, optionally, a range of columns."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        part = self.select_rows(np.arange(len(self))[rows] if isinstance(rows, slice) else rows)
        first, last, _ = columns.indices(self.columns)
        row_indices = np.repeat(np.arange(len(part)), np.diff(part.indptr))
        inside: slice | Array = slice(None)
        if last - first < self.columns:
            inside = (part.indices >= first) & (part.indices < last)
        block = np.zeros((len(part), max(last - first, 0)), self.dtype)
        values = 1 if part.values is None else part.values[inside]
        block[row_indices[inside], part.indices[inside] - first] = values
        return block

    def select_rows(self, rows: Array) -> "SparseFeatures":
        """Return some rows, still sparse."""
        indptr, positions = entries_of(self.indptr, rows)
        values = None if self.values is None else self.values[positions]
        return SparseFeatures(indptr, self.indices[positions], self.columns, values)


Features: TypeAlias = Array | SparseFeatures


def density(features: Features) -> float:
    """Return the fraction of elements that are not zero (for sparse features, of those that are stored)."""
    if isinstance(features, SparseFeatures):
        return len(features.indices) / max(features.size, 1)
    return sum(np.count_nonzero(features[part]) for part in arrays.chunks(features)) / max(features.size, 1)


def first_value(features: Features, test: Callable[[Array], Array]) -> tuple[int, int, Any] | None:
    """Return row, column and value of the first element that passes a test, among the stored ones if it is sparse."""
    values = features.values if isinstance(features, SparseFeatures) else features
    if values is None:
        return None
    for part in arrays.chunks(values):
        places = np.argwhere(test(values[part]))
        if not len(places):
            continue
        value, place = values[part][tuple(places[0])], part.start + int(places[0][0])
        if isinstance(features, SparseFeatures):
            return int(np.searchsorted(features.indptr, place, "right")) - 1, int(features.indices[place]), value
        return place, int(places[0][1]), value
    return None
