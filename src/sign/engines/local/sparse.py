"""Powers of an operator applied to sparse node features, such as bags of words.

Hops stay sparse while few of their values are not zero. The last power is never held as a whole: its rows are yielded
as they are computed.
"""

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sign.engines.base import Block, Diffusion, Engine, NodeRows
from sign.engines.local.engine import read_only
from sign.engines.powers import as_stored, by_products, row_parts
from sign.engines.progress import advance
from sign.graph.csr import Floats
from sign.graph.features import MAX_DENSITY, SparseFeatures
from sign.graph.matrix import Matrix
from sign.graph.partition import row_pointers, thread_blocks
from sign.system import arrays


def takes(diffusion: Diffusion) -> bool:
    """Return whether the features are sparse, and the powers are one product each, without rows that are copied."""
    sparse = isinstance(diffusion.x, SparseFeatures) and diffusion.x.is_worthwhile
    return sparse and diffusion.operator.is_one_product and not diffusion.known


def powers(engine: Engine, diffusion: Diffusion) -> Generator[Block]:
    """Yield the wanted powers; from the first one on whose input is dense, by products of dense arrays."""
    x, everything = diffusion.x, slice(0, diffusion.columns)
    remaining, share = dict(diffusion.rows), len(diffusion.wanted) / len(diffusion.rows)
    for power, rows in diffusion.rows.items():
        assert isinstance(x, SparseFeatures)
        if power == max(remaining):
            for part, values in product(diffusion.matrix, x, rows):
                yield Block(power, part, everything, values)
        else:
            hop = _sparse_power(diffusion, x, rows)
            if hop is None:
                wanted = [power for power in remaining if power in diffusion.wanted]
                yield from by_products(engine, replace(diffusion, x=x, rows=remaining, wanted=wanted))
                return
            if power in diffusion.wanted:
                for part, chosen in row_parts(diffusion, diffusion.used):
                    yield Block(power, part, everything, hop[chosen])
            x = hop
        advance(share)
        del remaining[power]


def product(matrix: Matrix, x: SparseFeatures, rows: NodeRows) -> Iterator[tuple[slice, Floats]]:
    """Yield dense rows of a product in blocks, with their positions; a block is valid until the next is requested."""
    from sign.engines.local.sparse_kernels import multiply_sparse  # imported late: it compiles

    csr, nodes = matrix.csr, np.arange(matrix.csr.nodes) if rows is None else rows
    values = np.ones(len(x.indices), np.float32) if x.values is None else x.values.astype(np.float32, copy=False)
    parts = arrays.row_slices(len(nodes), 4 * x.columns)
    out = np.empty((max((part.stop - part.start for part in parts), default=0), x.columns), np.float32)
    for part in parts:
        own = nodes[part]
        bounds = np.linspace(0, len(own), thread_blocks() + 1).astype(np.int64)
        factors = map(read_only, (csr.indptr, csr.indices, csr.weights, matrix.left, matrix.right))
        others = map(read_only, (own, bounds, x.indptr, x.indices, values))
        arguments: tuple[Any, ...] = (*factors, np.float32(matrix.self_loop), *others, out)
        multiply_sparse(*arguments)
        arrays.release(csr.indices, csr.weights)
        yield part, out[: len(own)]


def _sparse_power(diffusion: Diffusion, x: SparseFeatures, rows: NodeRows) -> SparseFeatures | None:
    """Return a power with a row per node, of which those in ``rows`` are computed; None if it is not sparse."""
    nodes, columns = x.shape
    entries = 0
    lengths = np.zeros(nodes, np.int64)
    parts: list[SparseFeatures] = []
    for part, values in product(diffusion.matrix, x, rows):
        parts.append(SparseFeatures.from_blocks([as_stored(values, diffusion.dtype)], columns))
        lengths[part if rows is None else rows[part]] = np.diff(parts[-1].indptr)
        entries += len(parts[-1].indices)
        if entries > MAX_DENSITY * nodes * columns:
            return None
    indices, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("indices", "values"))
    return SparseFeatures(row_pointers(lengths), indices, columns, values)
