"""The compiled product with sparse node features."""

from typing import Any

import numpy as np
from numba import prange

from sign.system.jit import compiled_parallel


@compiled_parallel
def multiply_sparse(
    indptr: Any,
    indices: Any,
    weights: Any,
    left: Any,
    right: Any,
    self_loop: Any,
    rows: Any,
    blocks: Any,
    x_indptr: Any,
    x_indices: Any,
    x_values: Any,
    out: Any,
) -> None:
    """Write dense ``rows`` of ``diag(left) (W + self_loop I) diag(right) x`` to ``out``.

    Terms are added in the order of the kernels for dense features, whose other terms are zero: the bits are the same.
    """
    for block in prange(blocks.shape[0] - 1):
        for number in range(blocks[block], blocks[block + 1]):
            i = rows[number]
            sums = out[number]
            sums[:] = np.float32(0)
            if self_loop != 0:
                own = self_loop if right is None else self_loop * right[i]
                for q in range(x_indptr[i], x_indptr[i + 1]):
                    sums[x_indices[q]] = x_values[q] * own
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                weight = np.float32(1)
                if weights is not None:
                    weight = weights[e]
                if right is not None:
                    weight *= right[j]
                for q in range(x_indptr[j], x_indptr[j + 1]):
                    sums[x_indices[q]] += x_values[q] * weight
            if left is not None:
                for c in range(sums.shape[0]):
                    sums[c] *= left[i]
