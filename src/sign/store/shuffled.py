"""Write rows in random order to an array that does not fit into memory: two passes, both in large pieces."""

from collections.abc import Iterable

import numpy as np

from sign.graph.csr import Array
from sign.system import arrays, memory

MEMORY_PARTS = 8  # of the remaining memory that a bucket takes: its rows, their copy, and as much to spare


def write_shuffled(out: Array, blocks: Iterable[tuple[slice, Array]], targets: Array) -> None:
    """Write row ``i`` of ``blocks`` to row ``targets[i]`` of a mapped array.

    The array is divided into buckets that fit into memory. The first pass appends each row to the bucket that its
    target lies in, the second sorts each bucket.

    Parameters
    ----------
    out
        The array to fill.
    blocks
        All rows in their order, as slices and values.
    targets
        A permutation of the rows.
    """
    bounds = np.array([part.start for part in arrays.row_slices(len(out), out[:1].nbytes, _bucket_bytes())] or [0])
    ends, landed = bounds.copy(), np.empty(len(out), np.int64)
    for part, rows in blocks:
        buckets = np.searchsorted(bounds, targets[part], side="right") - 1
        order = np.argsort(buckets, kind="stable")
        for bucket, group in _runs(buckets[order]):
            chosen = order[group]
            filled = slice(ends[bucket], ends[bucket] + len(chosen))
            out[filled] = rows[chosen]
            landed[filled] = targets[part][chosen]
            ends[bucket] = filled.stop
        arrays.release(out)
    for first, last in zip(bounds, [*bounds[1:], len(out)], strict=True):
        bucket_rows = np.empty_like(out[first:last])
        bucket_rows[landed[first:last] - first] = out[first:last]
        out[first:last] = bucket_rows
        arrays.release(out[first:last])


def _bucket_bytes() -> int:
    return max(arrays.CHUNK_BYTES, memory.remaining() // MEMORY_PARTS)


def _runs(values: Array) -> Iterable[tuple[int, slice]]:
    """Return each value of a sorted array with the slice that it fills."""
    different, starts = np.unique(values, return_index=True)
    return [
        (int(value), slice(int(start), int(stop)))
        for value, start, stop in zip(different, starts, [*starts[1:], len(values)], strict=True)
    ]
