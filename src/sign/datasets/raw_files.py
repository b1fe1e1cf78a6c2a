"""Raw files, block by block: no large array lies in memory whole, and reading one never runs code."""

import gzip
import os
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy

from sign.datasets.download import locked
from sign.errors import SignError, reason
from sign.graph.csr import Array
from sign.system import arrays
from sign.system.console import console

BLOCK = 1 << 24  # bytes that are read at a time
TEXT = 1 << 20  # bytes of text at a time, of which pyarrow has several blocks in the making
WHOLE, REAL = "iu", "f"  # kinds of dtypes
DAMAGE = (BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, OverflowError, OSError)


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Answer in one sentence whatever a damaged file does to its reader."""
    try:
        yield
    except (*DAMAGE, NotImplementedError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise SignError(f"{file}: not a complete data file ({words}); fetch it again") from error


@dataclass(frozen=True)
class Member:
    """An array of a .npz file, of which only the header has been read."""

    file: Path
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool

    @classmethod
    def find(cls, file: Path, name: str, kinds: str, dimensions: int) -> "Member":
        """The array of that name, if its numbers and its shape are of the right kind."""
        with reading(file), ZipFile(file) as archive, archive.open(f"{name}.npy") as stream:
            found = cls(file, name, *_header(stream))
            size = archive.getinfo(f"{name}.npy").file_size - stream.tell()
            if found.dtype.kind not in kinds or len(found.shape) != dimensions:
                raise ValueError(f"{name} is {found.dtype} of shape {found.shape}")
            if size != prod(found.shape) * found.dtype.itemsize:
                raise ValueError(f"{name} has {size} bytes for {found.dtype} of shape {found.shape}")
        return found

    def blocks(self, row: int = 1) -> Iterator[Array]:
        """All numbers in the order of the file, in blocks of whole rows of ``row`` numbers."""
        with reading(self.file), ZipFile(self.file) as archive, archive.open(f"{self.name}.npy") as stream:
            _header(stream)
            left, step = prod(self.shape), max(1, BLOCK // (row * self.dtype.itemsize)) * row
            while left:
                content = stream.read(min(left, step) * self.dtype.itemsize)
                yield np.frombuffer(content, self.dtype)
                left -= len(content) // self.dtype.itemsize
            stream.read(1)  # only at its end a member is compared with its checksum

    def read(self) -> Array:
        """All numbers, within the memory budget."""
        array, first = arrays.empty(prod(self.shape), self.dtype.newbyteorder("=")), 0
        for block in self.blocks():
            part = slice(first, first := first + len(block))
            array[part] = block
            arrays.release(array[part])
        return array.reshape(self.shape, order="F" if self.fortran else "C")


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, dtype, fortran


def table(file: Path, dtype: type[np.generic]) -> Iterator[Array]:
    """Blocks of rows of a .csv.gz file without a header, all of whose columns are numbers of one type."""
    import pyarrow
    from pyarrow import csv

    with reading(file):
        with gzip.open(file) as stream:
            names = [str(column) for column in range(stream.readline().count(b",") + 1)]
        options = {
            "read_options": csv.ReadOptions(block_size=min(BLOCK, TEXT), column_names=names),
            "convert_options": csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.from_numpy_dtype(dtype)), null_values=[]
            ),
        }
        with (
            pyarrow.input_stream(str(file), compression="gzip") as stream,
            csv.open_csv(stream, **options) as reader,
        ):
            for batch in reader:
                yield np.stack([column.to_numpy() for column in batch.columns], axis=1)


def column(file: Path) -> Array:
    """The whole numbers of a small .csv.gz file with one column."""
    with reading(file), gzip.open(file) as stream:
        return whole_numbers(stream.read())


def whole_numbers(text: bytes) -> Array:
    """The numbers of a text, with white space between them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # an error only in later versions of numpy
        try:
            return np.fromstring(text, np.int64, sep=" ")
        except (DeprecationWarning, ValueError) as error:
            raise ValueError("it is not made of whole numbers") from error


def class_numbers(values: Array, classes: int) -> Array:
    """Labels as class numbers, with -1 where a label is not a number."""
    known = ~np.isnan(values)
    wrong = known & ~((values >= 0) & (values < classes) & (values == np.floor(values)))
    if wrong.any():
        raise ValueError(f"label {values[wrong][0]:g} is not in 0 to {classes - 1}")
    return np.where(known, values, -1).astype(np.int16)


def keep(
    raw: Path, folder: Path, names: Sequence[str], blocks: Callable[[], Iterator[Sequence[Array]]]
) -> list[Array]:
    """Arrays that are made of the raw file once, and are memory maps of .npy files from then on.

    ``blocks`` gives the next rows of every array. A file gets its name when it is whole; the name holds the size and
    the time of the raw file, so that an array of another one is not taken for it.
    """
    stat = raw.stat()
    files = [folder / f"{name}-{stat.st_size}-{stat.st_mtime_ns}.npy" for name in names]
    if not all(file.is_file() for file in files):
        with locked(folder):
            if not all(file.is_file() for file in files):  # another run may have made them meanwhile
                for old in (old for name in names for old in folder.glob(f"{name}-*")):
                    old.unlink()
                console.print(f"{raw}: read once; {', '.join(names)} are kept in {folder}", soft_wrap=True)
                with reading(raw):
                    _write(files, blocks())
    with reading(folder):
        return [np.asarray(np.load(file, mmap_mode="r", allow_pickle=False)) for file in files]


def _write(files: Sequence[Path], blocks: Iterator[Sequence[Array]]) -> None:
    """Write arrays to files of other names, which are renamed when all of them are whole."""
    parts = [file.with_suffix(".part") for file in files]
    try:
        with ExitStack() as stack:
            arrays = [Growing(stack.enter_context(part.open("wb"))) for part in parts]
            for block in blocks:
                for array, rows in zip(arrays, block, strict=True):
                    array.append(rows)
            for array in arrays:
                array.finish()
        for part, file in zip(parts, files, strict=True):
            part.rename(file)
    except OSError as error:
        raise SignError(
            f"{files[0].parent}: cannot be written ({reason(error)}); "
            "free some room, or set paths.data_dir to another disk"
        ) from error
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


class Growing:
    """A .npy file that rows are added to; numpy leaves room in the header for their number."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.shape: tuple[int, ...] = (0,)
        self.dtype: np.dtype[Any] = np.dtype(np.void)

    def append(self, rows: Array) -> None:
        """Add rows, which have the shape and the type of those before."""
        if not self.stream.tell():
            self.shape, self.dtype = (0, *rows.shape[1:]), rows.dtype
            self._head()
        elif (rows.shape[1:], rows.dtype) != (self.shape[1:], self.dtype):
            raise ValueError(f"rows of shape {rows.shape[1:]} after rows of shape {self.shape[1:]}")
        self.stream.write(np.ascontiguousarray(rows).data)
        self.shape = (self.shape[0] + len(rows), *self.shape[1:])

    def finish(self) -> None:
        """Write the number of rows, and wait until all is on the disk."""
        if not self.shape[0]:
            raise ValueError("it has no rows")
        self.stream.seek(0)
        self._head()
        self.stream.flush()
        os.fsync(self.stream.fileno())

    def _head(self) -> None:
        described = npy.dtype_to_descr(self.dtype)
        npy.write_array_header_1_0(
            self.stream, {"descr": described, "fortran_order": False, "shape": self.shape}
        )
