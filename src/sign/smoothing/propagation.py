r"""Propagation of scores over the graph: :math:`X_{k+1} = \alpha S X_k + (1 - \alpha) X_0`."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from sign.engines.base import Engine
from sign.engines.powers import column_blocks
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.graph.graph import Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.system import arrays

Normalization: TypeAlias = Literal["symmetric", "row", "column"]
AfterStep: TypeAlias = Callable[[Floats, slice], None]
"""Changes some columns of the scores of all nodes in place, after each step."""
BUFFERS = 4  # arrays with a row per node that a block of columns takes


def propagate(
    graph: Graph,
    normalization: Normalization,
    start: Floats,
    alpha: float,
    iterations: int,
    engine: Engine,
    after: AfterStep,
) -> Floats:
    """Return the scores after some steps, in blocks of columns that the remaining memory holds.

    Parameters
    ----------
    normalization
        Of the adjacency without self-loops, as :class:`sign.operators.adjacency.NormalizedAdjacency` names it.
    start
        :math:`X_0`, one row per node.
    alpha
        The weight of the neighbours, from 0 to 1.
    after
        What is done to the scores after each step.
    """
    operator = NormalizedAdjacency(normalization)
    matrix = operator.matrix(graph)
    result: Floats = arrays.empty(start.shape, np.float32)
    for columns in column_blocks(engine, operator, matrix, start.shape[1], BUFFERS):
        x = np.ascontiguousarray(start[:, columns])
        x = x.copy() if np.shares_memory(x, start) else x
        own = x * np.float32(1 - alpha)
        spare = np.empty_like(x)
        for _ in range(iterations):
            x, spare = engine.product(matrix, x, None, spare), x
            x *= np.float32(alpha)
            x += own
            after(x, columns)
        if not np.isfinite(x).all():
            raise SignError(f"{graph.name}: propagated scores are not finite; scale the edge weights")
        result[:, columns] = x
    return result


def clamp(low: float, high: float) -> AfterStep:
    """Return the step that limits scores to an interval."""

    def limit(x: Floats, columns: slice) -> None:
        np.clip(x, low, high, out=x)

    return limit
