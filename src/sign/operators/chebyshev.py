r"""Functions of a symmetric matrix with spectrum in [-1, 1], as Chebyshev polynomials of products.

For :math:`f(T) x` the expansion :math:`f(t) ≈ \sum_k c_k T_k(t)` needs one product per term, no inner products
and four blocks of memory. Truncated where the remaining coefficients sum to less than a tolerance, its error in the
spectral norm is below that tolerance. The number of terms depends on ``f`` alone, so the result does not depend
on the graph's size or on how columns are blocked.
"""

from collections.abc import Callable

import numpy as np

from sign.graph.csr import Array, Floats
from sign.graph.matrix import Matrix
from sign.operators.base import Product
from sign.system import arrays

POINTS = 4096  # more than the terms of any truncated expansion
CACHED = 1 << 18  # bytes of rows that stay in a core's cache while they are combined


def coefficients(function: Callable[[Array], Array], tolerance: float) -> Array:
    """Return the coefficients of ``function`` on [-1, 1], without the tail that sums to less than ``tolerance``.

    >>> coefficients(lambda t: 2 * t**2 - 1, 1e-9).round(9) + 0.0
    array([0., 0., 1.])
    """
    angles = (np.arange(POINTS) + 0.5) * np.pi / POINTS
    values = function(np.cos(angles))
    # A discrete cosine transform; numpy has it as the real part of an FFT of the mirrored values.
    spectrum = np.fft.rfft(np.concatenate([values, values[::-1]]))[:POINTS]
    every = (spectrum * np.exp(-0.5j * np.pi * np.arange(POINTS) / POINTS)).real / POINTS
    every[0] /= 2
    tails = np.cumsum(np.abs(every[::-1]))[::-1]
    kept: Array = every[: max(int(np.searchsorted(-tails, -tolerance)), 1)]
    return kept


def apply_polynomial(terms: Array, matrix: Matrix, x: Floats, product: Product) -> Floats:
    """Return ``sum(c_k T_k(matrix)) @ x`` by the recurrence T_{k+1} = 2 M T_k - T_{k-1}.

    Spark's plan *blocks* evaluates the same recurrence in ``sign.engines.spark.block_tasks.Combine``.
    """
    total = np.float32(terms[0]) * x
    if len(terms) == 1:
        return total
    before, current, free = x, product(matrix, x), None
    total += np.float32(terms[1]) * current
    for term in terms[2:]:
        following = product(matrix, current, out=free)
        for part in arrays.chunk_slices(total, CACHED):
            block = following[part]
            block *= 2
            block -= before[part]
            total[part] += np.float32(term) * block
        free = before if before is not x else None
        before, current = current, following
    return total
