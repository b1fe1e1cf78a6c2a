"""How much memory there is, and arrays that keep to a share of it.

Within :func:`within` the process has a budget: :func:`empty` then gives an array in memory while half of the
budget has room for it, and beyond that one in a file without a name, which vanishes with the process. Whoever
is done with a part of such an array, or of any memory map, says so by :func:`release`.
"""

import errno
import math
import mmap
import os
import re
import resource
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sign.errors import SignError

CGROUP = Path("/sys/fs/cgroup")
SHARED_BY = "SIGN_SHARED_BY"  # in how many parts the memory is divided, one of them for this process
SHARE = 0.7  # of what is available that a process takes unless told otherwise
KEPT = 0.5  # of the budget that arrays of `empty` may take; the rest is for features
SMALL = 1 << 20  # bytes of arrays that are not worth a file
LINE = 16  # floats in a cache line
PART = 1 << 25  # bytes of a mapped array that are used at a time
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the system's words for a full disk
UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass
class Budget:
    """Bytes that may be resident, the folder for what has no room, and what arrays have taken."""

    total: int
    scratch: Path
    arrays: int
    taken: int = 0

    def give_back(self, size: int) -> None:
        """An array is gone."""
        self.taken -= size


_ours: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()  # maps that `empty` made
_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def within(total: int, scratch: Path) -> Iterator[None]:
    """Keep the arrays of :func:`empty` within ``total`` resident bytes; files go to ``scratch``."""
    before = _budget.set(Budget(total, scratch, int(KEPT * max(total - resident(), 0))))
    try:
        yield
    finally:
        _budget.reset(before)


def left() -> int:
    """Bytes of the budget that are not resident now; without a budget, of the default one."""
    budget = _budget.get()
    return (default() if budget is None else budget.total) - resident()


def scratch() -> Path | None:
    """The folder for what has no room, where there is a budget."""
    budget = _budget.get()
    return None if budget is None else budget.scratch


def default() -> int:
    """The budget of a process that was given none."""
    return resident() + int(SHARE * available())


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """An array with any content, in memory or, beyond the budget, in a file without a name."""
    budget = _budget.get()
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if budget is None or size <= SMALL:
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
        if error.errno not in FULL:
            raise
        raise no_room(place, size) from error


def no_room(place: Path, size: int) -> SignError:
    """The sentence for a full disk."""
    stat = os.statvfs(place if place.is_dir() else place.parent)
    free = readable(stat.f_bavail * stat.f_frsize)
    return SignError(
        f"{place}: no room on the disk for {readable(size)} ({free} are free); "
        "free some, or set paths.store_dir to another disk"
    )


def mapping(array: NDArray[Any]) -> mmap.mmap | None:
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
        if not isinstance(array, np.ndarray) or not array.size or (mapped := mapping(array)) is None:
            continue
        start = np.frombuffer(mapped, np.uint8, 1).ctypes.data
        low, high = np.lib.array_utils.byte_bounds(array)
        first = (low - start) // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, first, min(high - start, len(mapped)) - first)


def slices(array: Any, size: int | None = None) -> list[slice]:
    """Parts of about ``size`` bytes along the first axis."""
    return cut(len(array), array[:1].nbytes, size)


def cut(rows: int, row_bytes: int, size: int | None = None) -> list[slice]:
    """Parts of about ``size`` bytes of so many rows."""
    step = max(1, (size or PART) // max(1, row_bytes))
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def parts(array: Any) -> Iterator[slice]:
    """The slices of an array; each is released when the next is taken."""
    for part in slices(array):
        yield part
        if isinstance(array, np.ndarray):  # a part of sparse features would be made only to be let go
            release(array[part])


def gather(array: Any, rows: NDArray[Any] | None) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Blocks of ``array[rows]``, or of all rows, each with its place; ``rows`` are sorted.

    A map is read in order and never whole: what lies between the rows of a block is let go with it.
    """
    for part in slices(array):
        if rows is None:
            yield part, array[part]
        else:
            first, last = np.searchsorted(rows, (part.start, part.stop))
            if first < last:
                yield slice(int(first), int(last)), array[rows[first:last]]
        if isinstance(array, np.ndarray):
            release(array[part])


def take(array: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """``array[rows]`` within the budget; ``rows`` are sorted."""
    taken = empty((len(rows), *array.shape[1:]), array.dtype)
    for place, values in gather(array, rows):
        taken[place] = values
        release(taken[place])
    return taken


def available() -> float:
    """Bytes that this process may still take; those that run beside it are to take as much."""
    left = min([_machine(), *(_left_in(group) for group in _groups())])
    return left / max(1, int(os.environ.get(SHARED_BY, "1")))


def _groups() -> Iterator[Path]:
    """The control groups of this process, from its own up to the root; version 2, then version 1."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for base, mark in ((CGROUP, "0::"), (CGROUP / "memory", ":memory:")):
        own = next((line.partition(mark)[2] for line in lines if mark in line), "/")
        inner = base / own.lstrip("/")
        yield inner
        yield from (parent for parent in inner.parents if parent == base or base in parent.parents)
        if inner != base:
            yield base


def _left_in(group: Path) -> float:
    """Bytes that a control group has left; what it only caches of files can be had back."""
    for limit, usage in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        allowed, used = _number(group / limit), _number(group / usage)
        if (
            allowed is not None and used is not None and allowed < 1 << 60
        ):  # "max", or a number so large, is none
            return max(allowed - used + _cached(group), 0)
    return math.inf


def _cached(group: Path) -> int:
    try:
        lines = (group / "memory.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, KeyError, ValueError):
        return 0


def resident() -> int:
    """The resident size of this process now, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:  # not Linux
        return peak()


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    try:  # ru_maxrss would count what the process that started this one had
        return int(_fields("/proc/self/status")["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def parse(text: str) -> int | None:
    """Bytes of a size such as ``4GB`` or ``500 MB``; None where it is not one."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMGT]B|)\s*", text)
    return int(float(found[1]) * UNITS[found[2]]) if found else None


def readable(size: float) -> str:
    """A size for people: ``readable(1536000)`` is ``1.5 MB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _machine() -> int:
    try:
        return int(_fields("/proc/meminfo")["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # not Linux: half of what is built in is a careful guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _fields(file: str) -> dict[str, str]:
    lines = Path(file).read_text().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
