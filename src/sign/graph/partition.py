"""Row pointers of CSR arrays, and partitions of rows: blocks of equal work for threads, windows of mapped arrays."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sign.system import arrays

Array: TypeAlias = NDArray[Any]
BLOCKS_PER_THREAD = 16  # enough that one hub row does not leave the other threads idle


def row_pointers(lengths: Array) -> NDArray[np.int64]:
    """``indptr`` of rows with these lengths: where each row starts, and the end of the last one."""
    indptr = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def is_indptr(indptr: Array, entries: int) -> bool:
    """Whether ``indptr`` divides this number of entries into rows."""
    return bool(len(indptr) and indptr[0] == 0 and indptr[-1] == entries and (np.diff(indptr) >= 0).all())


def entries_of(indptr: Array, rows: Array) -> tuple[NDArray[np.int64], Array]:
    """``indptr`` of the selected rows alone, and the positions of their entries."""
    lengths = indptr[rows + 1] - indptr[rows]
    selected = row_pointers(lengths)
    return selected, np.repeat(indptr[rows] - selected[:-1], lengths) + np.arange(selected[-1])


def row_blocks(indptr: Array, blocks: int, first: int = 0, last: int | None = None) -> Array:
    """Boundaries of blocks of the rows from ``first`` to ``last`` with about the same work each."""
    last = len(indptr) - 1 if last is None else last

    def work(row: int) -> int:  # of all rows before: their entries, and a little for each row
        return int(indptr[row]) + row

    targets = np.linspace(work(first), work(last), blocks + 1)
    bounds = [bisect_left(range(last + 1), target, first, key=work) for target in targets]
    bounds[0], bounds[-1] = first, last
    return np.array(bounds, np.int64)


def thread_bounds(rows: int) -> Array:
    """Boundaries of one block of rows per thread, with the same number of rows each."""
    return np.linspace(0, rows, thread_blocks() // BLOCKS_PER_THREAD + 1).astype(np.int64)


def thread_blocks() -> int:
    """Return the number of blocks of rows that keeps all threads busy."""
    import numba

    return int(numba.get_num_threads()) * BLOCKS_PER_THREAD


def windows(indptr: Array, *columns: Array | None) -> Iterator[tuple[int, int]]:
    """First and last row of each window of rows whose entries of ``columns`` are used at the same time.

    Arrays in memory have one window. Entries of mapped arrays are released after each window.
    """
    rows = len(indptr) - 1
    mapped = [array for array in columns if array is not None and arrays.memory_map(array) is not None]
    size = arrays.CHUNK_BYTES // max((array.itemsize for array in mapped), default=1)
    first = 0
    while first < rows:
        last = rows
        if mapped:
            last = max(first + 1, int(np.searchsorted(indptr, indptr[first] + size, "right")) - 1)
        yield first, last
        arrays.release(*mapped)
        first = last


def blocks_by_window(indptr: Array, *columns: Array | None) -> Iterator[Array]:
    """Boundaries of blocks of rows for threads, for each window of rows."""
    for first, last in windows(indptr, *columns):
        yield row_blocks(indptr, thread_blocks(), first, last)
