"""Products on this machine: parallel numba over row blocks of equal work."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from sign.engines.base import Block, Diffusion, Engine, NodeRows
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.matrix import Matrix
from sign.validation import Power

NO_FACTORS, ALL_ROWS = np.empty(0, np.float32), np.empty(0, np.int64)  # what the compiled loop takes in place of None


@dataclass(frozen=True)
class LocalEngine(Engine):
    """Compiled products on this machine; ``threads=0`` uses every core."""

    threads: Power = 0
    copies_rows: ClassVar[bool] = True

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """Keep to the memory, and to ``threads`` threads in compiled loops."""
        with self._threads(), super().limits(scratch):  # numba is loaded first: its memory counts
            yield

    @contextmanager
    def _threads(self) -> Iterator[None]:
        import numba  # imported late: it takes longer than reporting a configuration error

        before, most = numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS
        numba.set_num_threads(min(self.threads or most, most))
        try:
            yield
        finally:
            numba.set_num_threads(before)

    def powers(self, diffusion: Diffusion) -> Generator[Block]:
        """Compute the wanted powers; those of sparse features by products with their entries."""
        from sign.engines.local import sparse

        return sparse.powers(self, diffusion) if sparse.takes(diffusion) else super().powers(diffusion)

    def product(self, matrix: Matrix, x: Floats, rows: NodeRows = None, out: Floats | None = None) -> Floats:
        """Return the product; one thread sums a row in the order of its entries, so their number changes no bit."""
        from sign.engines.local.kernels import multiplier

        x = np.ascontiguousarray(x, np.float32)
        out = np.empty_like(x) if out is None else out
        if out.shape[1] != x.shape[1] or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise SignError(
                f"a product cannot be written to {out.dtype} of shape {out.shape}; it needs a C-contiguous array of "
                f"float32 with {x.shape[1]} columns"
            )
        multiply = multiplier(x.shape[1])
        csr, loop = matrix.csr, np.float32(matrix.self_loop)
        left, listed = NO_FACTORS if matrix.left is None else matrix.left, ALL_ROWS if rows is None else rows
        arrays = map(read_only, (csr.indptr, csr.indices, csr.weights, left, matrix.right))
        arguments = (*arrays, loop, read_only(listed))
        with self._threads():
            for blocks in csr.blocks(rows):
                multiply(*arguments, read_only(blocks), read_only(x), out)
        return out


def read_only(array: Array | None) -> Array | None:
    """Return a read-only view, as memory maps are: numba would compile a loop for arrays in memory once more."""
    if array is None:
        return None
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
