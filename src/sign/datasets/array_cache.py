"""Arrays that are converted from a raw file once and memory-mapped from .npy files afterwards."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from sign.datasets.download import data_lock
from sign.datasets.raw_files import read_errors
from sign.errors import SignError, reason
from sign.graph.csr import Array

log = logging.getLogger(__name__)


def cached_arrays(raw: Path, folder: Path, names: Sequence[str], blocks: Iterator[Iterable[Array]]) -> list[Array]:
    """Return memory maps of arrays in ``folder``, which are first converted from a raw file if necessary.

    ``blocks`` yields the next rows of every array; it is only read for a conversion. The names of the .npy files
    contain size and modification time of the raw file, so that a changed raw file is converted again.
    """
    stat = raw.stat()
    files = [folder / f"{name}-{stat.st_size}-{stat.st_mtime_ns}.npy" for name in names]
    if not all(file.is_file() for file in files):
        with data_lock(folder):
            if not all(file.is_file() for file in files):  # else another process has converted them meanwhile
                for stale in (stale for name in names for stale in folder.glob(f"{name}-*")):
                    stale.unlink()
                log.info("%s: converting %s to .npy files in %s, once", raw, ", ".join(names), folder)
                with read_errors(raw):
                    _write(files, blocks)
    with read_errors(folder):
        return [np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for file in files]


def _write(files: Sequence[Path], blocks: Iterator[Iterable[Array]]) -> None:
    """Write arrays to temporary files, which are renamed when all of them are complete."""
    parts = [file.with_suffix(".part") for file in files]
    try:
        with ExitStack() as stack:
            writers = [NpyWriter(stack.enter_context(part.open("wb"))) for part in parts]
            for block in blocks:
                for writer, rows in zip(writers, block, strict=True):
                    writer.append(rows)
            for writer in writers:
                writer.finish()
        for part, file in zip(parts, files, strict=True):
            part.rename(file)
    except OSError as error:
        raise SignError(
            f"{files[0].parent}: not writable ({reason(error)}); free some space, or set paths.data_dir to another disk"
        ) from error
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


class NpyWriter:
    """A .npy file that rows are appended to; numpy's header has space for their final number."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.shape: tuple[int, ...] = (0,)
        self.dtype: np.dtype[Any] = np.dtype(np.void)

    def append(self, rows: Array) -> None:
        """Append rows, all of the same shape and type."""
        if not self.stream.tell():
            self.shape, self.dtype = (0, *rows.shape[1:]), rows.dtype
            self._write_header()
        elif (rows.shape[1:], rows.dtype) != (self.shape[1:], self.dtype):
            raise ValueError(f"rows of shape {rows.shape[1:]} after rows of shape {self.shape[1:]}")
        self.stream.write(np.ascontiguousarray(rows).data)
        self.shape = (self.shape[0] + len(rows), *self.shape[1:])

    def finish(self) -> None:
        """Write the number of rows and flush the file to disk."""
        if not self.shape[0]:
            raise ValueError("it has no rows")
        self.stream.seek(0)
        self._write_header()
        self.stream.flush()
        os.fsync(self.stream.fileno())

    def _write_header(self) -> None:
        descr = npy.dtype_to_descr(self.dtype)
        npy.write_array_header_1_0(self.stream, {"descr": descr, "fortran_order": False, "shape": self.shape})
