"""The compiled inner loops of the local engine."""

from functools import cache
from typing import Any

import numpy as np
from numba import prange

from sign.engines.local.simd import add, load, prefetch, scale, store, zeros
from sign.system.arrays import CACHE_LINE
from sign.system.jit import compiled_parallel

AHEAD = 12  # entries between prefetching a row and adding it, about one memory latency
WIDTHS = (64, 16, 4, 1)  # columns that are summed at once; the sums of 64 fill half of the registers of AVX2


def multiplier(columns: int) -> Any:
    """Return the compiled product for rows of ``columns`` columns."""
    return _compiled(next((width for width in WIDTHS if width <= columns), 1))


@cache
def _compiled(width: int) -> Any:
    """Return the product that sums ``width`` columns at once, for rows that have at least as many."""

    @compiled_parallel
    def multiply(
        indptr: Any,
        indices: Any,
        weights: Any,
        left: Any,
        right: Any,
        self_loop: Any,
        rows: Any,
        blocks: Any,
        x: Any,
        out: Any,
    ) -> None:
        """``out = diag(left) (W + self_loop I) diag(right) x``, row by row; all rows, or those of a list.

        Without ``left`` or a list, their arrays are empty: None would compile the loop once more for each.
        """
        columns, listed = x.shape[1], len(rows) > 0
        for block in prange(blocks.shape[0] - 1):
            last = blocks[block + 1] - 1
            for number in range(blocks[block], last + 1):
                i = rows[number] if listed else number
                start, end = indptr[i], indptr[i + 1]
                # Prefetching continues after this row with the entries of the next one. A wrong guess (after an
                # empty row, at the end of a list) costs one cache line.
                onward, limit = end, indptr[-1] - 1
                if listed:
                    following = rows[min(number + 1, last)]
                    onward, limit = indptr[following], indptr[following + 1] - 1
                for panel in range(0, columns, width):
                    # The last panel may begin in the one before: the same columns get the same sums again.
                    c = min(panel, columns - width)
                    sums = zeros(width)
                    if self_loop != 0:
                        own = self_loop if right is None else self_loop * right[i]
                        sums = scale(load(x[i], c, width), own)
                    for e in range(start, end):
                        ahead = e + AHEAD
                        if ahead >= end:
                            ahead = max(min(ahead - end + onward, limit), start)
                        # Unsigned, or numba would test each index for being negative.
                        coming = np.uint64(indices[ahead])
                        theirs = x[coming]
                        for line in range(0, width, CACHE_LINE):
                            prefetch(theirs, c + line)
                        prefetch(theirs, c + width - 1)
                        if right is not None:
                            prefetch(right, coming)
                        j = np.uint64(indices[e])
                        weight = np.float32(1)
                        if weights is not None:
                            weight = weights[e]
                        if right is not None:
                            weight *= right[j]
                        sums = add(sums, scale(load(x[j], c, width), weight))
                    if len(left):
                        sums = scale(sums, left[i])
                    store(out[i], c, sums)

    return multiply
