"""Products on this machine: parallel numba over row blocks of equal work."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.engines.base import Engine
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.matrix import Matrix
from sign.validation import Power


@dataclass(frozen=True)
class LocalEngine(Engine):
    """All cores of this machine; ``threads=0`` takes every one."""

    threads: Power = 0

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """The memory, and ``threads`` threads for compiled loops."""
        with self._threads(), super().limits(scratch):  # what numba takes is not for arrays
            yield

    @contextmanager
    def _threads(self) -> Iterator[None]:
        import numba  # imported late: it takes longer than answering a configuration error

        before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
        numba.set_num_threads(min(self.threads or most, most))
        try:
            yield
        finally:
            numba.set_num_threads(before)

    def product(
        self, matrix: Matrix, x: Floats, rows: Array | None = None, out: Floats | None = None
    ) -> Floats:
        """Each row is summed by one thread in the order of its entries, so threads change nothing."""
        from sign.engines.local.kernels import multiplier

        x = np.ascontiguousarray(x, np.float32)
        out = np.empty_like(x) if out is None else out
        if out.shape[1] != x.shape[1] or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise SignError(
                f"a product cannot be written to {out.dtype} of shape {out.shape}; it needs an array of float32 with "
                f"{x.shape[1]} columns whose rows follow each other"
            )
        multiply = multiplier(x.shape[1])
        csr, loop = matrix.csr, np.float32(matrix.self_loop)
        arrays = (csr.indptr, csr.indices, csr.weights, matrix.left, matrix.right)
        with self._threads():
            for wanted, blocks in csr.blocks_of(rows):
                multiply(*arrays, loop, wanted, blocks, x, out)
        return out
