"""Rows of stored hops in memory, of which sparse hops stay sparse."""

from collections.abc import Iterator

import numpy as np
import torch

from sign.graph.csr import Array, Floats
from sign.graph.feature_scaling import scale_hop_rows
from sign.graph.features import SparseFeatures
from sign.models.networks.sparse import MixedRows, SparseRows
from sign.system import arrays
from sign.training.hop_rows import HopRows
from sign.training.rows import Rows


def load_mixed(source: HopRows) -> MixedRows:
    """Copy rows from the store to memory: dense hops to one matrix, sparse ones as they are."""
    sparse = {
        hop: _sparse_rows(array, positions, source.scaling)
        for hop, (array, positions) in enumerate(zip(source.arrays, source.positions, strict=True))
        if isinstance(array, SparseFeatures)
    }
    dense = source.hops([hop for hop in range(len(source.arrays)) if hop not in sparse])
    matrix = Rows.load(dense).matrix if dense.arrays else torch.empty(len(source), 0)
    return MixedRows(source.widths, matrix, sparse)


def _sparse_rows(array: SparseFeatures, positions: Array, scaling: str) -> SparseRows:
    """Some rows of a sparse hop, scaled block by block."""
    if scaling == "none":
        rows = array.select_rows(positions)
    else:
        rows = SparseFeatures.from_blocks(_scaled_blocks(array, positions, scaling), array.columns)
    values = None if rows.values is None else rows.values.astype(np.float32)
    return SparseRows(rows.indptr, rows.indices, values, array.columns)


def _scaled_blocks(array: SparseFeatures, positions: Array, scaling: str) -> Iterator[Floats]:
    for part in arrays.row_slices(len(positions), 4 * array.columns):
        block = array[positions[part]].astype(np.float32)
        scale_hop_rows(block, scaling)
        yield block
