"""A chain of powers on this machine: every block of columns goes through all of them.

Blocks are as wide as the memory that is left allows. With one block a power is whole before the next begins; with
several, the last block completes all of them. How columns are cut changes no bit of the result.
"""

import math
import time
from collections.abc import Iterator

import numpy as np

from sign.engines.base import Engine, Job
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.matrix import Matrix
from sign.system import arrays, memory

MARGIN = 0.05  # of the memory that is left which stays free, for what is not an array


def run(engine: Engine, job: Job) -> None:
    """Compute a job by products of an engine."""
    blocks = _column_blocks(engine, job)
    seconds = dict.fromkeys(job.wanted, 0.0)
    for block in blocks:
        x = _load(job, block)
        spare = np.empty_like(x) if job.is_one_product else None
        for power in job.rows:
            began = time.perf_counter()
            result = _power(engine, job, job.matrix, x, power, block, spare)
            x, spare = result, x if result is spare else None  # fresh memory is slow: two arrays take turns
            _round(job, x, power)
            if power in job.wanted:
                for part, rows in _parts(job, x, job.used):
                    job.write(power, part, block, x[rows])
                seconds[power] += time.perf_counter() - began
                if block is blocks[-1]:
                    job.finished(power, seconds[power])
        del x, spare, result  # before the next block is loaded


def _column_blocks(engine: Engine, job: Job) -> list[slice]:
    """Blocks of columns, as wide as the memory that is left allows, and about equal."""
    columns, nodes = job.columns, job.matrix.csr.nodes
    whole, column = engine.needs(job.matrix)
    one = 4 * nodes * job.buffers + column
    left = memory.remaining() - whole
    widest = int(left * (1 - MARGIN)) // one
    if widest < 1:
        # with a larger budget, arrays that now lie in files take up to half of it
        least = memory.format_size(2 * (memory.resident() + whole + one / (1 - MARGIN)))
        raise SignError(
            f"engine.memory={engine.memory}: not enough for one column of {job.name} on {nodes:,} nodes; "
            f"{least} would do"
        )
    width = math.ceil(columns / math.ceil(columns / min(widest, columns)))
    if width < columns and widest >= arrays.CACHE_LINE:  # whole cache lines, where that can be
        width = min(-(-width // arrays.CACHE_LINE), widest // arrays.CACHE_LINE) * arrays.CACHE_LINE
    blocks = [slice(first, min(first + width, columns)) for first in range(0, columns, width)]
    if len(blocks) > 1:
        job.remark(
            f"{memory.format_size(left)} of memory left: {columns} columns go through {job.letter} "
            f"in {len(blocks)} blocks of {width}"
        )
    return blocks


def _load(job: Job, block: slice) -> Floats:
    """Columns of the array that products start from, read in order."""
    x = np.empty((job.matrix.csr.nodes, block.stop - block.start), np.float32)
    for part in arrays.row_slices(len(x), job.row_bytes):
        x[part] = job.read(part, block)
    return x


def _power(
    engine: Engine, job: Job, matrix: Matrix, x: Floats, power: int, block: slice, spare: Floats | None
) -> Floats:
    """B x, on some rows or all; in ``spare`` where that is given."""
    free = [] if spare is None else [spare]

    def product(matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
        result = engine.product(matrix, x, job.rows[power], free.pop() if out is None and free else out)
        job.advance(power, block)
        return result

    result = job.apply(matrix, x, product)
    if not isinstance(result, np.ndarray) or result.shape != x.shape:
        got = getattr(result, "shape", type(result).__name__)
        raise SignError(f"{job.name} made {got} of rows of shape {x.shape}; its apply must keep the shape")
    return result.astype(np.float32, copy=False)


def _round(job: Job, x: Floats, power: int) -> None:
    """Round to what the store holds, so that going on from the store or from memory is the same."""
    for _, rows in _parts(job, x, job.rows[power]):
        stored = job.stored(x[rows])
        if job.dtype != "float32":
            x[rows] = stored


def _parts(job: Job, x: Floats, rows: Array | None) -> Iterator[tuple[slice, slice | Array]]:
    """Some rows of x, or all, in parts that take little memory: which of the rows they are, and where they stand."""
    for part in arrays.row_slices(len(x) if rows is None else len(rows), job.row_bytes):
        yield part, part if rows is None else rows[part]
