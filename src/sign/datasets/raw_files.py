"""Readers of raw files, block by block: large arrays are never in memory as a whole, and no code of a file is run."""

import gzip
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

from sign.errors import SignError
from sign.graph.csr import Array
from sign.system import arrays

BLOCK = 1 << 24  # bytes that are read at a time
DEFLATE_RATIO = 1032  # the largest possible: what a compressed array claims beyond it is not in the file
DOWNLOADED = ("a complete data file", "download it again")
TEXT_BLOCK = 1 << 20  # bytes of text that are parsed at a time; pyarrow has several blocks in progress


@contextmanager
def read_errors(file: Path | str, expected: str = DOWNLOADED[0], remedy: str = DOWNLOADED[1]) -> Iterator[None]:
    """Convert whatever a library raises about a damaged file to a :class:`SignError` with a remedy."""
    try:
        yield
    except (SignError, MemoryError):
        raise
    except Exception as error:
        message = " ".join(str(error).split())[:200] or type(error).__name__
        raise SignError(f"{file}: cannot be read as {expected} ({message}); {remedy}") from error


@dataclass(frozen=True)
class NpzArray:
    """An array of a .npz file, described by its header; ``errors`` are the arguments of :func:`read_errors`."""

    file: Path
    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    errors: tuple[str, str] = DOWNLOADED

    @classmethod
    def open(
        cls, file: Path, name: str, kinds: str, dimensions: int, errors: tuple[str, str] = DOWNLOADED
    ) -> "NpzArray":
        """Read the header of an array and check it: ``kinds`` are numpy's kinds of dtypes, such as ``iu``."""
        with read_errors(file, *errors), ZipFile(file) as archive, archive.open(f"{name}.npy") as stream:
            array = cls(file, name, *_read_header(stream), errors)
            member = archive.getinfo(f"{name}.npy")
            if member.file_size > DEFLATE_RATIO * max(file.stat().st_size, 1):
                raise ValueError(f"{name} claims {member.file_size} bytes, more than the file can contain")
            size = member.file_size - stream.tell()
            if array.dtype.kind not in kinds or len(array.shape) != dimensions:
                raise ValueError(f"{name} is {array.dtype} of shape {array.shape}")
            if size != prod(array.shape) * array.dtype.itemsize:
                raise ValueError(f"{name} has {size} bytes for {array.dtype} of shape {array.shape}")
        return array

    def blocks(self, row: int = 1) -> Iterator[Array]:
        """Iterate over all numbers in the order of the file, in blocks of whole rows of ``row`` numbers."""
        with (
            read_errors(self.file, *self.errors),
            ZipFile(self.file) as archive,
            archive.open(f"{self.name}.npy") as stream,
        ):
            _read_header(stream)
            left, step = prod(self.shape), max(1, BLOCK // max(1, row * self.dtype.itemsize)) * row
            while left:
                content = stream.read(min(left, step) * self.dtype.itemsize)
                if not content:
                    raise ValueError(f"{self.name} is truncated")
                yield np.frombuffer(content, self.dtype)
                left -= len(content) // self.dtype.itemsize
            stream.read(1)  # the checksum of a member is compared at its end

    def read(self) -> Array:
        """Read the whole array within the memory budget."""
        array, first = arrays.empty(prod(self.shape), self.dtype.newbyteorder("=")), 0
        for block in self.blocks():
            part = slice(first, first := first + len(block))
            array[part] = block
            arrays.release(array[part])
        return array.reshape(self.shape, order="F" if self.fortran else "C")


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return shape, dtype, fortran


def csv_blocks(file: Path, dtype: type[np.generic]) -> Iterator[Array]:
    """Iterate over blocks of rows of a .csv.gz file without a header, all columns of one type."""
    import pyarrow
    from pyarrow import csv

    with read_errors(file):
        with gzip.open(file) as stream:
            names = [str(column) for column in range(stream.readline().count(b",") + 1)]
        read = csv.ReadOptions(block_size=min(BLOCK, TEXT_BLOCK), column_names=names)
        kinds = dict.fromkeys(names, pyarrow.from_numpy_dtype(dtype))
        convert = csv.ConvertOptions(column_types=kinds, null_values=[])
        with (
            pyarrow.input_stream(str(file), compression="gzip") as text,
            csv.open_csv(text, read, None, convert) as reader,
        ):
            for batch in reader:
                yield np.stack([column.to_numpy() for column in batch.columns], axis=1)


def read_csv_column(file: Path) -> Array:
    """Read the integers of a small .csv.gz file with one column."""
    with read_errors(file), gzip.open(file) as stream:
        return parse_integers(stream.read())


def parse_integers(text: bytes) -> Array:
    """Parse integers separated by white space; raise :class:`ValueError` for anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # an error only in later versions of numpy
        try:
            return np.fromstring(text, np.int64, sep=" ")
        except (DeprecationWarning, ValueError) as error:
            raise ValueError("it contains something else than integers") from error


def class_indices(labels: Array, classes: int) -> Array:
    """Convert labels to class indices, -1 for NaN; raise :class:`ValueError` for labels out of range."""
    known = ~np.isnan(labels)
    invalid = known & ~((labels >= 0) & (labels < classes) & (labels == np.floor(labels)))
    if invalid.any():
        raise ValueError(f"label {labels[invalid][0]:g} is not in 0 to {classes - 1}")
    return np.where(known, labels, -1).astype(np.int16)
