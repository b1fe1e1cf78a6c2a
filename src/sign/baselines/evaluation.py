"""Exact evaluation: the outputs of a network for all nodes, layer by layer, with products of an engine."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sign.baselines.network import Network
from sign.engines.base import Engine
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.graph.matrix import Matrix
from sign.system import arrays, memory

if TYPE_CHECKING:
    from sign.baselines.graph_data import GraphData

MARGIN = 0.05  # of the remaining memory that stays free, for objects that are not arrays


@torch.no_grad()
def logits_of_all_nodes(network: Network, data: "GraphData", engine: Engine, device: torch.device) -> Tensor:
    """Return the outputs of a network in evaluation mode, for all nodes, on the CPU.

    Each layer is computed for all nodes before the next one begins, within the memory that is left: dense algebra in
    blocks of rows on ``device``, products in blocks of columns by ``engine``.
    """
    h, known = data.inputs.numpy(), data.first_product
    for layer in network:
        z = h
        if layer.propagates and known is not None:
            z = known.numpy()
        elif layer.propagates:
            z = product_by_columns(engine, data.matrix, _by_rows(layer.message, device, h))
        known = None
        h = _by_rows(layer.update, device, h, z)
    return torch.from_numpy(h)


def _by_rows(function: Callable[..., Tensor], device: torch.device, *inputs: Floats) -> Floats:
    """Return what a function computes row by row, in blocks of rows."""
    out: Floats | None = None
    for rows in arrays.chunk_slices(inputs[0]):
        values = function(*(torch.from_numpy(array[rows]).to(device) for array in inputs)).float().cpu().numpy()
        if out is None:
            out = arrays.empty((len(inputs[0]), values.shape[1]), np.float32)
        out[rows] = values
    assert out is not None
    return out


def product_by_columns(engine: Engine, matrix: Matrix, x: Floats) -> Floats:
    """Return the product of a matrix with all rows, in blocks of columns that the remaining memory holds."""
    result: Floats = arrays.empty(x.shape, np.float32)
    fixed, per_column = engine.needs(matrix)
    per_column += 4 * 2 * matrix.csr.nodes  # a block of x and of the result
    widest = int((memory.remaining() - fixed) * (1 - MARGIN)) // per_column
    if widest < 1:
        raise SignError(
            f"engine.memory={engine.memory}: not enough for one column of a product with {matrix.csr.nodes:,} nodes; "
            "set it higher"
        )
    columns = x.shape[1]
    if widest >= columns:
        return engine.product(matrix, x, out=result)
    width = math.ceil(columns / math.ceil(columns / widest))
    for first in range(0, columns, width):
        part = slice(first, min(first + width, columns))
        result[:, part] = engine.product(matrix, np.ascontiguousarray(x[:, part]))
    return result
