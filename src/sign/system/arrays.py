"""Arrays within the memory budget: in memory while there is room, otherwise in anonymous temporary files.

Inside :func:`sign.system.memory.limit`, :func:`empty` returns an array in memory while half of the budget has room
for it, and a memory-mapped temporary file beyond that. Call :func:`release` on slices of mapped arrays that are no
longer needed.
"""

import errno
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sign.errors import SignError
from sign.system import memory

MIN_MAPPED_BYTES = 1 << 20  # bytes of arrays that are not worth a file
CACHE_LINE = 16  # floats in a cache line
CHUNK_BYTES = 1 << 25  # bytes of a mapped array that are used at a time
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # error numbers of a full disk

_ours: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # maps that `empty` made


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array with any content, in memory or, beyond the budget, in a file without a name."""
    budget = memory.budget.get()
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if budget is None or size <= MIN_MAPPED_BYTES:
        return np.empty(shape, dtype)
    if budget.taken + size <= budget.arrays:
        array = np.empty(shape, dtype)
        budget.taken += size
        weakref.finalize(array, budget.give_back, size)
        return array
    budget.scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=budget.scratch) as file:
        reserve(file.fileno(), size, budget.scratch)
        mapped = mmap.mmap(file.fileno(), size)
        _ours.add(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)


def reserve(descriptor: int, size: int, place: Path) -> None:
    """Make a file of ``size`` bytes that are really there: writing to a map of it cannot fail later."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:  # macOS
            os.truncate(descriptor, size)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise disk_full(place, size) from error


def disk_full(place: Path, size: int) -> SignError:
    """The sentence for a full disk."""
    stat = os.statvfs(place if place.is_dir() else place.parent)
    free = memory.format_size(stat.f_bavail * stat.f_frsize)
    return SignError(
        f"{place}: no room on the disk for {memory.format_size(size)} ({free} are free); "
        "free some, or set paths.store_dir to another disk"
    )


def memory_map(array: NDArray[Any]) -> mmap.mmap | None:
    """The memory map of a file that an array lies in, if it does.

    A copy-on-write map does not count: its changes are in memory alone, and letting go of them would lose them.
    """
    base: Any = array
    shared = False
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            shared = base.mode != "c"
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, mmap.mmap) and (shared or base in _ours) else None


def release(*arrays: Any) -> None:
    """Let go of the resident pages of mapped arrays; their content stays in their files."""
    for array in arrays:
        if not isinstance(array, np.ndarray) or not array.size or (mapped := memory_map(array)) is None:
            continue
        start = np.frombuffer(mapped, np.uint8, 1).ctypes.data
        low, high = np.lib.array_utils.byte_bounds(array)
        first = (low - start) // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, first, min(high - start, len(mapped)) - first)


def chunk_slices(array: Any, size: int | None = None) -> list[slice]:
    """Parts of about ``size`` bytes along the first axis."""
    return row_slices(len(array), array[:1].nbytes, size)


def row_slices(rows: int, row_bytes: int, size: int | None = None) -> list[slice]:
    """Parts of about ``size`` bytes of so many rows."""
    step = max(1, (size or CHUNK_BYTES) // max(1, row_bytes))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def chunks(array: Any) -> Iterator[slice]:
    """The slices of an array; each is released when the next is taken."""
    for part in chunk_slices(array):
        yield part
        if isinstance(array, np.ndarray):  # a part of sparse features would be made only to be let go
            release(array[part])


def gather(array: Any, rows: NDArray[Any] | None) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Blocks of ``array[rows]``, or of all rows, each with its place; ``rows`` are sorted.

    A map is read in order and never whole: what lies between the rows of a block is let go with it.
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


def copy_rows(array: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """``array[rows]`` within the budget; ``rows`` are sorted."""
    taken = empty((len(rows), *array.shape[1:]), array.dtype)
    for place, values in gather(array, rows):
        taken[place] = values
        release(taken[place])
    return taken
