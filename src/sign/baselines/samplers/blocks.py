"""Blocks of sampled entries of a matrix."""

import numpy as np
from numpy.typing import NDArray

from sign.baselines.samplers.batches import Block, Integers
from sign.baselines.samplers.block_kernels import column_squares, neighbour_masses, sample_rows, select_columns
from sign.baselines.samplers.scratch import Scratch
from sign.baselines.samplers.streams import Categories, categories
from sign.errors import FieldError
from sign.graph.csr import CSR

Doubles = NDArray[np.float64]


def check_layers(name: str, sizes: list[int]) -> None:
    """Raise a :class:`FieldError` unless there is a number for at least one layer."""
    if not sizes:
        raise FieldError(name, sizes, "must have one number per layer")


def sampled_rows(
    matrix: CSR, rows: Integers, first_nodes: Integers, fanout: int, key: np.uint64, scratch: Scratch
) -> tuple[Block, Integers]:
    """Sample up to ``fanout`` entries per row, uniformly without replacement; the weights are those of the estimator.

    Also returns the nodes of the columns: ``first_nodes``, then those that the sample adds.
    """
    indptr, columns, weights, nodes = sample_rows(
        matrix.indptr, matrix.indices, matrix.weights, rows, first_nodes, fanout, key, scratch.arrays()
    )
    return Block(indptr, columns, weights, len(nodes)), nodes


def selected_columns(matrix: CSR, rows: Integers, columns: Integers, factors: Doubles, scratch: Scratch) -> Block:
    """Select the entries of ``rows`` in the distinct ``columns``, multiplied by the factor of their column."""
    indptr, indices, weights = select_columns(
        matrix.indptr, matrix.indices, matrix.weights, rows, columns, factors, scratch.arrays()
    )
    return Block(indptr, indices, weights, len(columns))


def masses_of_neighbours(matrix: CSR, rows: Integers, scratch: Scratch) -> tuple[Integers, Doubles]:
    """Return the columns of ``rows``, and the sum of each over the rows, which are divided by their own sums."""
    nodes, masses = neighbour_masses(matrix.indptr, matrix.indices, matrix.weights, rows, scratch.arrays())
    return nodes, masses


def column_importance(matrix: CSR) -> Categories:
    r"""Return the distribution :math:`\|A_{:,v}\|^2 / \sum_w \|A_{:,w}\|^2`."""
    return categories(column_squares(matrix.indptr, matrix.indices, matrix.weights))
