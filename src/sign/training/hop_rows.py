"""Rows of stored hops, read in order."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Self

import numpy as np
import torch
from torch import Tensor

from sign.graph.csr import Array
from sign.graph.feature_scaling import scale_hop_rows
from sign.graph.features import Features, SparseFeatures, density
from sign.system import arrays

BLOCK_BYTES = 1 << 25  # of rows that are copied at a time
ENTRY_BYTES = 8  # of a sparse row: an index and a value


@dataclass(frozen=True, eq=False)
class HopRows:
    """The rows of some nodes in every hop, side by side as one wide row per node.

    ``positions`` has the rows of the nodes in each of ``arrays``, which are memory maps of the store, dense or sparse;
    ``scaling`` is that of hop rows. A slice is read in order, and its pages are released.
    """

    arrays: list[Features]
    positions: list[Array]
    scaling: str = "none"

    def __len__(self) -> int:
        return len(self.positions[0])

    @cached_property
    def widths(self) -> list[int]:
        """The columns of each hop."""
        return [array.shape[1] for array in self.arrays]

    @property
    def columns(self) -> int:
        """The columns of a wide row."""
        return sum(self.widths)

    def __getitem__(self, part: slice) -> Tensor:
        """Some wide rows as float32, scaled."""
        wide = np.empty((len(self.positions[0][part]), self.columns), np.float32)
        self.read(part, wide)
        return torch.from_numpy(wide)

    def own(self, part: slice) -> Self:
        """The rows in ``part`` alone, as one rank reads them."""
        return replace(self, positions=[rows[part] for rows in self.positions])

    def hops(self, chosen: list[int]) -> Self:
        """The same rows of some hops, by position."""
        arrays, positions = [self.arrays[hop] for hop in chosen], [self.positions[hop] for hop in chosen]
        return replace(self, arrays=arrays, positions=positions)

    def unscaled(self) -> Self:
        """The same rows as the store has them."""
        return replace(self, scaling="none")

    def read(self, part: slice, out: Array) -> None:
        """Copy some wide rows to ``out``, and scale them there."""
        columns = hop_columns(self.widths)
        for array, positions, own in zip(self.arrays, self.positions, columns, strict=True):
            _copy(array, positions[part], out[:, own])
        scale_rows(out, self.widths, self.scaling)

    def nbytes(self, sparse: bool) -> int:
        """Bytes of the rows in memory as float32, where ``sparse`` hops may stay so."""
        size = 0
        for array, positions in zip(self.arrays, self.positions, strict=True):
            element = ENTRY_BYTES * density(array) if sparse and isinstance(array, SparseFeatures) else 4
            size += int(len(positions) * array.shape[1] * element)
        return size

    def blocks(self) -> list[slice]:
        """Slices of a moderate size, for a copy of all rows."""
        return arrays.row_slices(len(self), 4 * self.columns, BLOCK_BYTES)


def hop_columns(widths: list[int]) -> list[slice]:
    """The columns of each hop in a wide row."""
    return [slice(end - width, end) for width, end in zip(widths, accumulate(widths), strict=True)]


def scale_rows(wide: Array, widths: list[int], scaling: str) -> None:
    """Scale the rows of each hop in wide rows, in place."""
    if scaling != "none":
        for own in hop_columns(widths):
            scale_hop_rows(wide[:, own], scaling)


def _copy(array: Features, rows: Array, out: Array) -> None:
    """Copy some rows of a mapped array, and release its pages; rows in sequence are read without an index."""
    if not isinstance(array, np.ndarray):
        out[:] = array[rows]
    elif len(rows):
        in_sequence = len(rows) == 1 or bool((np.diff(rows) == 1).all())
        out[:] = array[rows[0] : rows[-1] + 1] if in_sequence else array[rows]
        arrays.release(array[rows.min() : rows.max() + 1])
