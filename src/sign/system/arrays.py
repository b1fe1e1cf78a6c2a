"""Arrays within the memory budget: in memory up to half of the budget, then in anonymous temporary files.

The budget is set by :func:`sign.system.memory.limit`. Call :func:`release` on slices of mapped arrays that are no
longer needed.
"""

import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from sign.errors import SignError
from sign.system import memory
from sign.system.atomic_files import is_disk_full, write_errors

MIN_MAPPED_BYTES = 1 << 20  # smaller arrays are always in memory
CACHE_LINE = 16  # floats in a cache line
CHUNK_BYTES = 1 << 25  # of a mapped array that are processed at a time

_created: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # maps of `empty`


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array, in memory or, beyond the budget, in an anonymous temporary file."""
    budget = memory.budget.get()
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if budget is None or size <= MIN_MAPPED_BYTES:
        return np.empty(shape, dtype)
    if budget.allocated + size <= budget.arrays:
        array = np.empty(shape, dtype)
        budget.allocated += size
        weakref.finalize(array, budget.free, size)
        return array
    with write_errors(budget.scratch, "paths.store_dir"), _scratch_file(budget.scratch) as file:
        reserve(file.fileno(), size, budget.scratch)
        mapped = mmap.mmap(file.fileno(), size)
        _created.add(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)


def _scratch_file(folder: Path) -> IO[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryFile(dir=folder)


def reserve(descriptor: int, size: int, path: Path) -> None:
    """Allocate ``size`` bytes of disk for an open file, so that writing to its memory map cannot fail later."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:  # macOS
            os.truncate(descriptor, size)
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise disk_full(path, size) from error


def disk_full(path: Path, size: int) -> SignError:
    """Return the error for a disk without ``size`` free bytes."""
    stat = os.statvfs(path if path.is_dir() else path.parent)
    free = memory.format_size(stat.f_bavail * stat.f_frsize)
    return SignError(
        f"{path}: no space on the disk for {memory.format_size(size)} ({free} free); "
        "free some, or set paths.store_dir to another disk"
    )


def open_npy(file: Path) -> NDArray[Any]:
    """Memory-map a ``.npy`` file; raise ValueError if its header does not describe a file of its size."""
    try:
        with file.open("rb") as stream:
            version = npy.read_magic(stream)
            shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(stream)
            declared = stream.tell() + math.prod(shape) * dtype.itemsize
    except RecursionError as error:
        raise ValueError(f"{file.name} has no valid header") from error
    if dtype.hasobject or declared != (size := file.stat().st_size):
        raise ValueError(f"{file.name} declares {dtype} of shape {shape}, but has {size} bytes")
    return np.load(file, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]


def memory_map(array: NDArray[Any]) -> mmap.mmap | None:
    """Return the memory map of a file that holds an array, if any.

    A copy-on-write map does not count: its changes are only in memory, and releasing them would lose them.
    """
    base: Any = array
    shared = False
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            shared = base.mode != "c"
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, mmap.mmap) and (shared or base in _created) else None


def release(*arrays: Any) -> None:
    """Drop the resident pages of mapped arrays, whose content stays in their files; ignore other arrays."""
    for array in arrays:
        if not isinstance(array, np.ndarray) or not array.size or (mapped := memory_map(array)) is None:
            continue
        start = np.frombuffer(mapped, np.uint8, 1).ctypes.data
        low, high = np.lib.array_utils.byte_bounds(array)
        first = (low - start) // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, first, min(high - start, len(mapped)) - first)


def chunk_slices(array: Any, size: int | None = None) -> list[slice]:
    """Return slices of about ``size`` bytes along the first axis."""
    return row_slices(len(array), array[:1].nbytes, size)


def row_slices(rows: int, row_bytes: int, size: int | None = None) -> list[slice]:
    """Return slices of about ``size`` bytes of this number of rows."""
    step = max(1, (size or CHUNK_BYTES) // max(1, row_bytes))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def chunks(array: Any) -> Iterator[slice]:
    """Iterate over slices of an array along its first axis; each is released before the next one."""
    for part in chunk_slices(array):
        yield part
        if isinstance(array, np.ndarray):  # slicing sparse features would copy
            release(array[part])


def gather(array: Any, rows: NDArray[Any] | None) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Iterate over blocks of ``array[rows]``, or of all rows, with their positions; ``rows`` are sorted.

    A map is read in order, one chunk at a time, and each chunk is released.
    """
    for part in chunk_slices(array):
        if rows is None:
            yield part, array[part]
        else:
            first, last = np.searchsorted(rows, (part.start, part.stop))
            if first < last:
                yield slice(int(first), int(last)), array[rows[first:last]]
        if isinstance(array, np.ndarray):
            release(array[part])


def copy_rows(array: NDArray[Any], rows: NDArray[Any] | None = None, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return ``array[rows]``, or all rows, within the budget and as ``dtype``; ``rows`` are sorted."""
    copy = empty((len(array if rows is None else rows), *array.shape[1:]), array.dtype if dtype is None else dtype)
    for part, values in gather(array, rows):
        copy[part] = values
        release(copy[part])
    return copy
