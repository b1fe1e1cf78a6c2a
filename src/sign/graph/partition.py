"""How rows are cut: into blocks of equal work for threads, and into windows of mapped arrays."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.system import arrays

Array: TypeAlias = NDArray[Any]
BLOCKS_PER_THREAD = 16  # enough that one hub row does not leave the other threads idle


def row_blocks(indptr: Array, blocks: int, first: int = 0, last: int | None = None) -> Array:
    """Boundaries of blocks of the rows from ``first`` to ``last`` with about the same work each."""
    last = len(indptr) - 1 if last is None else last

    def work(row: int) -> int:  # of all rows before: their entries, and a little for each row
        return int(indptr[row]) + row

    wanted = np.linspace(work(first), work(last), blocks + 1)
    cuts = [bisect_left(range(last + 1), bound, first, key=work) for bound in wanted]
    cuts[0], cuts[-1] = first, last
    return np.array(cuts, np.int64)


def thread_blocks() -> int:
    """How many blocks of rows keep all threads busy."""
    import numba

    return int(numba.get_num_threads()) * BLOCKS_PER_THREAD


def pointers(lengths: Array) -> NDArray[np.int64]:
    """Where each row starts and the last one ends."""
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def windows(indptr: Array, *columns: Array | None) -> Iterator[tuple[int, int]]:
    """First and last row of each window of rows whose part of ``columns`` is used at once.

    Arrays in memory have one window. Where some are mapped, what was used of them is released with each window.
    """
    rows, mapped = len(indptr) - 1, [a for a in columns if a is not None and arrays.memory_map(a) is not None]
    room = arrays.CHUNK_BYTES // max((array.itemsize for array in mapped), default=1)
    first = 0
    while first < rows:
        last = rows
        if mapped:
            last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + room, "right")) - 1)
        yield first, last
        arrays.release(*mapped)
        first = last


def blocks_by_window(indptr: Array, *columns: Array | None) -> Iterator[Array]:
    """Boundaries of blocks of rows for threads, window by window."""
    for first, last in windows(indptr, *columns):
        yield row_blocks(indptr, thread_blocks(), first, last)
