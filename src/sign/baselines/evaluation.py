"""Exact evaluation: the outputs of a network by all edges, layer by layer, with products of an engine."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sign.baselines.network import Layer, Network
from sign.engines.base import Engine, NodeRows
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.graph.matrix import Matrix
from sign.models.networks.sparse import Inputs, SparseRows
from sign.system import arrays, memory

if TYPE_CHECKING:
    from sign.baselines.graph_data import GraphData

MARGIN = 0.05  # of the remaining memory that stays free, for objects that are not arrays


@torch.no_grad()
def logits_of_nodes(
    network: Network, data: "GraphData", engine: Engine, device: torch.device, nodes: NodeRows = None
) -> Tensor:
    """Return the outputs of a network in evaluation mode, with a row per node of the graph, on the CPU.

    Each layer is computed before the next one begins, within the memory that is left: dense algebra in blocks of rows
    on ``device``, products in blocks of columns by ``engine``. With ``nodes``, only the rows that their outputs depend
    on are computed, and rows of other nodes may have any content.
    """
    first, *_ = network
    h, known = data.inputs, _first_product(first, data)
    for layer, (read, computed) in zip(network, rows_of_layers(network, data, nodes), strict=True):
        z = h
        if layer.propagates and known is not None:
            z = known
        elif layer.propagates:
            message = _by_rows(layer.message, device, read, h).numpy()
            z = torch.from_numpy(product_by_columns(engine, data.matrix, message, computed))
        known = None
        h = _by_rows(layer.update, device, computed, h, z)
    assert isinstance(h, Tensor)
    return h


def _first_product(layer: Layer, data: "GraphData") -> Inputs | None:
    """Return the product that the first layer reads, if it does not depend on weights and need not be computed anew."""
    if isinstance(data.inputs, SparseRows) and layer.propagates and not layer.project_first:
        return data.sparse_product
    return data.first_product


def rows_of_layers(network: Network, data: "GraphData", nodes: NodeRows) -> list[tuple[NodeRows, NodeRows]]:
    """Return, for each layer, the rows that it reads, and those that it computes, if ``nodes`` need an output."""
    rows, parts = nodes, list[tuple[NodeRows, NodeRows]]()
    first, *_ = network
    known = _first_product(first, data) is not None
    for number, layer in reversed([*enumerate(network)]):
        computed, multiplied = rows, layer.propagates and (number > 0 or not known)
        if rows is not None and multiplied:
            read = data.matrix.csr.column_mask(rows)
            read[rows] = True
            rows = None if read.all() else np.flatnonzero(read)
        parts.append((rows, computed))
    return parts[::-1]


def _by_rows(function: Callable[..., Inputs], device: torch.device, rows: NodeRows, *inputs: Inputs) -> Tensor:
    """Return what a function computes row by row, for some rows or all, in blocks of rows."""
    out: Floats | None = None
    count = len(inputs[0]) if rows is None else len(rows)
    for part in arrays.row_slices(count, 4 * inputs[0].shape[1]):
        block = part if rows is None else rows[part]
        outputs = function(*(each[block].to(device) for each in inputs))
        assert isinstance(outputs, Tensor)
        values = outputs.float().cpu().numpy()
        if out is None:
            out = arrays.empty((len(inputs[0]), values.shape[1]), np.float32)
        out[block] = values
    assert out is not None
    return torch.from_numpy(out)


def product_by_columns(engine: Engine, matrix: Matrix, x: Floats, rows: NodeRows = None) -> Floats:
    """Return some rows of a product, or all, in blocks of columns that the remaining memory holds."""
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
        return engine.product(matrix, x, rows, out=result)
    width = math.ceil(columns / math.ceil(columns / widest))
    for first in range(0, columns, width):
        part = slice(first, min(first + width, columns))
        result[:, part] = engine.product(matrix, np.ascontiguousarray(x[:, part]), rows)
    return result
