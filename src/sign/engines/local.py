"""Products on this machine: parallel numba over row blocks of equal work."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from sign.engines.engine import Engine
from sign.settings import Power
from sign.sparse import Array, Floats, Matrix

BLOCKS_PER_THREAD = 16  # enough that one hub row does not leave the other threads idle


@dataclass(frozen=True)
class LocalEngine(Engine):
    """All cores of this machine; ``threads=0`` takes every one."""

    threads: Power = 0

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Compiled loops take ``threads`` threads."""
        import numba  # imported late: it takes longer than answering a configuration error

        before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
        numba.set_num_threads(min(self.threads or most, most))
        try:
            yield
        finally:
            numba.set_num_threads(before)

    def product(self, matrix: Matrix, x: Floats) -> Floats:
        """Each row is summed by one thread in the order of its entries, so threads change nothing."""
        import numba

        from sign.engines.kernels import multiply

        x = np.ascontiguousarray(x, np.float32)
        out = np.empty_like(x)
        csr, loop = matrix.csr, np.float32(matrix.self_loop)
        with self.limits():
            blocks = row_blocks(csr.indptr, numba.get_num_threads() * BLOCKS_PER_THREAD)
            multiply(csr.indptr, csr.indices, csr.weights, matrix.left, matrix.right, loop, blocks, x, out)
        return out


def row_blocks(indptr: Array, blocks: int) -> Array:
    """Boundaries of row blocks with about the same number of entries and rows each."""
    work = indptr + np.arange(len(indptr))
    return np.searchsorted(work, np.linspace(0, work[-1], blocks + 1)).astype(np.int64)
