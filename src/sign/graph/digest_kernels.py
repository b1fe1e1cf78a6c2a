"""Compiled loops that hash the rows of matrices, and find the rows that read others."""

from typing import Any

import numpy as np
from numba import prange

from sign.graph.query_kernels import splitmix64
from sign.system.jit import compiled_parallel


@compiled_parallel
def digest_values(values: Any, digests: Any) -> None:
    """Hash each row of an array of unsigned integers; zeros at its end do not count."""
    for i in prange(len(values)):
        state = np.uint64(0)
        length = values.shape[1]
        while length and values[i, length - 1] == 0:
            length -= 1
        for c in range(length):
            state = splitmix64(state ^ np.uint64(values[i, c]))
        digests[i] = state


@compiled_parallel
def digest_entries(
    indptr: Any,
    indices: Any,
    weights: Any,
    left: Any,
    right: Any,
    self_loop: Any,
    nodes: Any,
    bounds: Any,
    digests: Any,
) -> None:
    """Hash each row of diag(left) (W + self_loop I) diag(right), with columns known by ``nodes``.

    Factors and weights are the bits of floats. The hash depends on the order of the entries, in which they are summed.
    """
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            state = np.uint64(indptr[i + 1] - indptr[i])
            if left is not None:
                state = splitmix64(state ^ np.uint64(left[i]))
            if self_loop:
                state = splitmix64(state ^ nodes[i])
                if right is not None:
                    state = splitmix64(state ^ np.uint64(right[i]))
            for e in range(indptr[i], indptr[i + 1]):
                state = splitmix64(state ^ nodes[indices[e]])
                if weights is not None:
                    state = splitmix64(state ^ np.uint64(weights[e]))
                if right is not None:
                    state = splitmix64(state ^ np.uint64(right[indices[e]]))
            digests[i] = state


@compiled_parallel
def mark_readers(indptr: Any, indices: Any, self_loop: Any, bounds: Any, columns: Any, mask: Any) -> None:
    """Set ``mask`` for the rows that have an entry in one of ``columns``, a mask."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            if self_loop and columns[i]:
                mask[i] = True
            for e in range(indptr[i], indptr[i + 1]):
                if mask[i]:
                    break
                if columns[indices[e]]:
                    mask[i] = True


@compiled_parallel
def draw_uniform(digests: Any, seed: Any, values: Any) -> None:
    """Fill each row with numbers between 0 and 1, exclusive, that depend on its digest and the seed alone."""
    for i in prange(len(digests)):
        state = splitmix64(digests[i] ^ splitmix64(seed))
        for c in range(values.shape[1]):
            state = splitmix64(state + np.uint64(c))
            values[i, c] = (np.float64(state >> np.uint64(11)) + 0.5) * 2.0**-53
