"""Attention weights of all edges from learned parameters: features are read in blocks, edges in parallel."""

from typing import Any

import numpy as np
from numba import prange

from sign.graph.classification import Origin
from sign.graph.csr import CSR, Floats
from sign.graph.partition import blocks_by_window
from sign.system import arrays
from sign.system.jit import compiled_inline, compiled_parallel

SLOPE = 0.2  # of LeakyReLU, for negative values
BOUND = 30.0  # of the difference of two scores


def relative_weights(csr: CSR, origin: Origin, parameters: Floats) -> CSR:
    """Return :math:`w_{ij} e^{s_{ij} - s_{ii}}` for each entry of a matrix without self-loops.

    ``parameters`` are the rows of U and V, one per feature, then b and a.
    """
    columns = origin.graph.features.shape[1]
    own, other = parameters[:columns], parameters[columns : 2 * columns]
    bias, output = parameters[-2:]
    size = (csr.nodes, parameters.shape[1])
    centres, neighbours = arrays.empty(size, np.float32), arrays.empty(size, np.float32)
    for part, rows in arrays.gather(origin.graph.features, None):
        values = origin.scaling.apply(rows)
        centres[part] = values @ own + bias
        neighbours[part] = values @ other
        arrays.release(centres[part], neighbours[part])
    weights = np.ones(0, np.float32) if csr.weights is None else csr.weights
    result = arrays.empty(csr.entries, np.float32)
    for bounds in blocks_by_window(csr.indptr, csr.indices, csr.weights, result):
        weigh_entries(csr.indptr, csr.indices, weights, centres, neighbours, output, bounds, result)
    return CSR(csr.indptr, csr.indices, result)


@compiled_inline
def score(centre: Any, neighbour: Any, output: Any) -> Any:
    """Return the score of a pair of nodes."""
    total = 0.0
    for c in range(len(output)):
        value = float(centre[c]) + float(neighbour[c])
        total += output[c] * (value if value > 0 else SLOPE * value)
    return total


@compiled_parallel
def weigh_entries(
    indptr: Any, indices: Any, weights: Any, centres: Any, neighbours: Any, output: Any, bounds: Any, result: Any
) -> None:
    """Write the weight of each entry of the rows within ``bounds``."""
    for part in prange(len(bounds) - 1):
        for i in range(bounds[part], bounds[part + 1]):
            own = score(centres[i], neighbours[i], output)
            for e in range(indptr[i], indptr[i + 1]):
                difference = score(centres[i], neighbours[indices[e]], output) - own
                weight = np.exp(min(max(difference, -BOUND), BOUND))
                result[e] = weight * weights[e] if len(weights) else weight
