"""Powers of an operator by products of an engine: the one loop that applies, rounds and yields.

:func:`by_products` takes columns through all powers in blocks that are as wide as the memory allows. With one block,
a power is complete before the next begins; with several, the last block completes all of them. How columns are cut
changes no bit of the result.
"""

import logging
import math
from collections.abc import Callable, Generator, Iterator

import numpy as np

from sign.engines.base import Block, Diffusion, Engine, NodeRows
from sign.engines.progress import advance
from sign.errors import SignError
from sign.graph.csr import Array, Floats
from sign.graph.matrix import Matrix
from sign.operators.base import Operator
from sign.system import arrays, memory

MARGIN = 0.05  # of the remaining memory that stays free, for objects that are not arrays
RowProduct = Callable[[Matrix, Floats, NodeRows, Floats | None], Floats]  # Engine.product

log = logging.getLogger(__name__)


def powers(
    diffusion: Diffusion, x: Floats, product: RowProduct, overwrite: bool = False, columns: slice = slice(None)
) -> Iterator[tuple[int, Floats]]:
    """Yield each wanted power of the operator applied to ``x``, the ``columns`` of ``diffusion.x``.

    A power is rounded to ``diffusion.dtype`` after it was yielded. With ``overwrite``, a yielded array is valid until
    the next one is requested: where a power is one product, two arrays, of which ``x`` is one, take turns, because
    fresh memory is slow.
    """
    operator = diffusion.operator
    spare = np.empty_like(x) if overwrite and operator.is_one_product else None
    before: Floats | None = None
    for power, rows in diffusion.rows.items():
        result = _apply(diffusion, power, (x, before), product, rows, spare)
        before = x if operator.recurrent else None
        x, spare = result, x if result is spare else None
        if power in diffusion.known:
            diffusion.known[power].copy_to(x, columns)
        if power in diffusion.wanted:
            yield power, x
        if diffusion.dtype != "float32":  # as the store has it: continuing from there gives the same
            for _, part in row_parts(diffusion, rows):
                x[part] = as_stored(x[part], diffusion.dtype)


def by_products(engine: Engine, diffusion: Diffusion) -> Generator[Block]:
    """Yield the wanted powers, computed by products of an engine on blocks of columns."""
    operator = diffusion.operator
    share = len(diffusion.wanted) / len(diffusion.rows) / max(operator.products, 1) / max(diffusion.columns, 1)
    for columns in column_blocks(engine, operator, diffusion.matrix, diffusion.columns, operator.buffers):
        product = _tracked(engine, share * (columns.stop - columns.start))
        for power, x in powers(diffusion, _load(diffusion, columns), product, True, columns):
            for part, rows in row_parts(diffusion, diffusion.used):
                yield Block(power, part, columns, x[rows])
            del x  # or it would stay while the next columns are loaded


def row_parts(diffusion: Diffusion, rows: NodeRows) -> Iterator[tuple[slice, slice | Array]]:
    """Yield parts of some rows, or of all, that take little memory: their positions among ``rows``, and the rows."""
    # whole rows count, because in a file some columns are read and written together with those beside them
    total = diffusion.x.shape[0] if rows is None else len(rows)
    for part in arrays.row_slices(total, 4 * diffusion.columns):
        yield part, part if rows is None else rows[part]


def as_stored(values: Array, dtype: str) -> Array:
    """Return values as the store has them; the store checks that its type can hold them."""
    with np.errstate(over="ignore"):
        return values.astype(dtype, copy=False)


def _apply(
    diffusion: Diffusion,
    power: int,
    hops: tuple[Floats, Floats | None],
    product: RowProduct,
    rows: NodeRows,
    spare: Floats | None,
) -> Floats:
    """Return a power from the hops before it on some rows or all, in ``spare`` if it is given and used."""
    x, before = hops
    free = [] if spare is None else [spare]

    def operator_product(matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
        return product(matrix, x, rows, free.pop() if out is None and free else out)

    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are refused where they are stored
        result = diffusion.operator.step(diffusion.matrix, power, x, before, operator_product)
    if not isinstance(result, np.ndarray) or result.shape != x.shape:
        shape = getattr(result, "shape", type(result).__name__)
        raise SignError(
            f"{diffusion.operator}: apply returned {shape} for rows of shape {x.shape}; it must keep the shape"
        )
    return result.astype(np.float32, copy=False)


def _tracked(engine: Engine, hops: float) -> RowProduct:
    """Return the product of an engine, which advances the progress bar by a part of a hop."""

    def product(matrix: Matrix, x: Floats, rows: NodeRows, out: Floats | None) -> Floats:
        result = engine.product(matrix, x, rows, out)
        advance(hops)
        return result

    return product


def _load(diffusion: Diffusion, columns: slice) -> Floats:
    """Return columns of the array that the first power is computed from, read in order."""
    x = np.empty((diffusion.x.shape[0], columns.stop - columns.start), np.float32)
    for part, _ in row_parts(diffusion, None):
        x[part] = diffusion.read(part, columns)
    return x


def column_blocks(engine: Engine, operator: Operator, matrix: Matrix, columns: int, buffers: int) -> list[slice]:
    """Return blocks of columns of about equal width, as wide as the remaining memory allows.

    A block takes ``buffers`` arrays with one row per node, besides what the engine needs for a product.
    """
    nodes = matrix.csr.nodes
    fixed, per_column = engine.needs(matrix)
    per_column += 4 * nodes * buffers
    remaining = memory.remaining() - fixed
    widest = int(remaining * (1 - MARGIN)) // per_column
    if widest < 1:
        # with a larger budget, arrays that are now in files take up to half of it
        least = memory.format_size(2 * (memory.resident() + fixed + per_column / (1 - MARGIN)))
        raise SignError(
            f"engine.memory={engine.memory}: not enough for one column of {operator} on {nodes:,} nodes; "
            f"{least} is enough"
        )
    width = math.ceil(columns / math.ceil(columns / min(widest, columns)))
    if width < columns and widest >= arrays.CACHE_LINE:  # whole cache lines where possible
        width = min(-(-width // arrays.CACHE_LINE), widest // arrays.CACHE_LINE) * arrays.CACHE_LINE
    blocks = [slice(first, min(first + width, columns)) for first in range(0, columns, width)]
    if len(blocks) > 1:
        log.info(
            "%s of memory left: %d columns of %s are computed in %d blocks of %d",
            memory.format_size(remaining), columns, operator.name, len(blocks), width,
        )  # fmt: skip
    return blocks
