"""Node features that stay sparse until a block of them is needed."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.graph.csr import Array, Floats
from sign.graph.partition import row_pointers
from sign.system import arrays
from sign.system.hashing import digest


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Rows of a sparse matrix, such as bags of words, which are read like an array: a block comes out dense.

    ``values=None`` stands for ones. Columns are unique within a row.

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
    dtype = np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), self.columns

    @property
    def size(self) -> int:
        """Numbers in the dense matrix."""
        return len(self) * self.columns

    @cached_property
    def digest(self) -> str:
        """A fingerprint of the matrix."""
        return digest(self.indptr, self.indices, np.array([self.columns]), self.values)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, key: slice | Array | tuple[slice | Array, slice]) -> Floats:
        """A dense block: some rows, and all columns or those from one to another."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        part = self.select_rows(np.arange(len(self))[rows] if isinstance(rows, slice) else rows)
        first, last, _ = columns.indices(self.columns)
        places = np.repeat(np.arange(len(part)), np.diff(part.indptr))
        inside: slice | Array = slice(None)
        if last - first < self.columns:
            inside = (part.indices >= first) & (part.indices < last)
        block = np.zeros((len(part), max(last - first, 0)), np.float32)
        block[places[inside], part.indices[inside] - first] = (
            1 if part.values is None else part.values[inside]
        )
        return block

    def select_rows(self, rows: Array) -> "SparseFeatures":
        """Some rows, still sparse."""
        lengths = np.diff(self.indptr)[rows]
        indptr = row_pointers(lengths)
        places = np.repeat(self.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        values = None if self.values is None else self.values[places]
        return SparseFeatures(indptr, self.indices[places], self.columns, values)


Features: TypeAlias = Array | SparseFeatures


def select_rows(features: Features, rows: Array) -> Features:
    """Some rows, in sorted order, as they are kept: sparse, or dense within the budget."""
    return (
        features.select_rows(rows)
        if isinstance(features, SparseFeatures)
        else arrays.copy_rows(features, rows)
    )
