"""Rows of a split in a row file of the store, which is written once and read in large pieces."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from sign.errors import SignError
from sign.graph.csr import Array
from sign.store.row_folder import RowFolder
from sign.store.shuffled import write_shuffled
from sign.system import arrays, memory
from sign.system.hashing import digest
from sign.training.hop_rows import HopRows, scale_rows

LAYOUT_SEED = 0  # of the order of the rows in a shuffled file, which all runs share
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class FileRows:
    """Wide rows in a file of type ``dtype`` from byte ``offset`` on, of which this object has those in ``rows``.

    They lie in the order of the split, or ``shuffled`` in that of :func:`layout`.
    Rows are read with plain system calls into memory of the caller: pages of the file never count as resident.
    """

    file: Path
    offset: int
    dtype: np.dtype[np.floating]
    widths: list[int]
    scaling: str
    rows: slice
    shuffled: bool

    @classmethod
    def open(cls, file: Path, widths: list[int], scaling: str, shuffled: bool) -> Self:
        """Open a row file."""
        array: Any = arrays.open_npy(file)
        return cls(file, array.offset, array.dtype, widths, scaling, slice(0, len(array)), shuffled)

    def __len__(self) -> int:
        return len(range(self.rows.start, self.rows.stop))

    @property
    def columns(self) -> int:
        """The columns of a wide row."""
        return sum(self.widths)

    def __getitem__(self, part: slice) -> Tensor:
        """Some wide rows as float32, scaled."""
        start, stop, _ = part.indices(len(self))
        wide = np.empty((max(stop - start, 0), self.columns), np.float32)
        self.read(start, wide)
        return torch.from_numpy(wide)

    def own(self, part: slice) -> Self:
        """The rows in ``part`` alone, as one rank reads them."""
        return replace(self, rows=slice(self.rows.start + part.start, self.rows.start + part.stop))

    def read(self, start: int, out: Array, in_order: bool = True) -> None:
        """Fill ``out`` with the rows from ``start`` on, scaled; unless ``in_order``, the system reads nothing ahead.

        Raises
        ------
        SignError
            If the file was removed or cut off since it was opened.
        """
        raw = out if out.dtype == self.dtype and out.flags.c_contiguous else np.empty(out.shape, self.dtype)
        view = raw.reshape(-1).view(np.uint8).data
        try:
            with self.file.open("rb", buffering=0) as stream:
                if not in_order and hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                stream.seek(self.offset + (self.rows.start + start) * self.columns * self.dtype.itemsize)
                while view:
                    if not (count := stream.readinto(view)):
                        raise FileNotFoundError
                    view = view[count:]
        except FileNotFoundError as error:
            raise SignError(f"{self.file}: was removed while it was read; run the same command again") from error
        if raw is not out:
            out[:] = raw
        scale_rows(out, self.widths, self.scaling)


def layout(rows: int) -> Array:
    """The split's row that each row of a shuffled file holds: in random order, whatever the order of the nodes."""
    return np.random.default_rng(LAYOUT_SEED).permutation(rows)


def write_or_open(
    root: Path, split: str, source: HopRows, checksums: list[str], shuffled: bool, verify: bool = False
) -> FileRows:
    """Return the row file of a split, which is written unless the store has it.

    Parameters
    ----------
    root
        The store's folder of the data set.
    split, source
        The split and its rows.
    checksums
        Hashes of the content of the hops.
    shuffled
        Whether rows lie in the order of :func:`layout`, as training reads them, or in their own.
    verify
        Whether the checksum of a file that exists is compared.
    """
    folder = RowFolder.of(
        root,
        verify,
        split=split,
        hops=checksums,
        positions=digest(*source.positions),
        order=f"shuffled by {LAYOUT_SEED}" if shuffled else "sorted",
        dtype=str(np.result_type(*(array.dtype for array in source.arrays))),
    )
    if folder.entry() is None:
        with folder.locked(lambda: log.info("waiting for another run that writes rows in %s", folder.path)):
            if folder.entry() is None:
                shape = (len(source), source.columns)
                size = memory.format_size(shape[0] * shape[1] * np.dtype(folder.key["dtype"]).itemsize)
                log.info("writing the rows of the %s split to the store: %s", split, size)
                with folder.draft(shape) as out:
                    _write(out, source.unscaled(), shuffled)
    folder.touch()
    return FileRows.open(folder.file, source.widths, source.scaling, shuffled)


def _write(out: Array, source: HopRows, shuffled: bool) -> None:
    if not shuffled:
        for part in source.blocks():
            source.read(part, out[part])
            arrays.release(out[part])
        return
    targets = np.empty(len(out), np.int64)
    targets[layout(len(out))] = np.arange(len(out))
    write_shuffled(out, _read_blocks(source, out.dtype), targets)


def _read_blocks(source: HopRows, dtype: np.dtype[np.floating]) -> Iterator[tuple[slice, Array]]:
    for part in source.blocks():
        rows = np.empty((part.stop - part.start, source.columns), dtype)
        source.read(part, rows)
        yield part, rows
