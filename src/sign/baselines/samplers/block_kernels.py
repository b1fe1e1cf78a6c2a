"""Compiled loops that select entries of some rows of a CSR matrix and number their columns within the batch.

Weights of None are ones.
"""

from typing import Any

import numpy as np

from sign.baselines.samplers.scratch import mark, marked_entries
from sign.baselines.samplers.streams import below, substream
from sign.system.jit import compiled


@compiled
def choose_distinct(chosen: Any, size: Any, key: Any) -> None:
    """Fill ``chosen`` with distinct numbers below ``size``, sorted; all subsets are equally likely (R. Floyd)."""
    count = len(chosen)
    for i in range(count):
        largest = size - count + i
        number = below(key, i, largest + 1)
        place = i
        while place > 0 and chosen[place - 1] > number:
            place -= 1
        if place > 0 and chosen[place - 1] == number:
            number, place = largest, i  # which is larger than everything chosen so far
        for k in range(i, place, -1):
            chosen[k] = chosen[k - 1]
        chosen[place] = number


@compiled
def sample_rows(
    indptr: Any, indices: Any, weights: Any, rows: Any, first_nodes: Any, fanout: Any, key: Any, scratch: Any
) -> Any:
    """Sample up to ``fanout`` entries of each row, uniformly without replacement.

    Returns ``indptr``, columns and weights of the sample, and the nodes that the columns refer to: ``first_nodes``,
    then those that the sample adds. Weights are multiplied by the length of their row over the number of samples.
    """
    numbers = scratch.numbers
    starts = np.zeros(len(rows) + 1, np.int64)
    for i in range(len(rows)):
        starts[i + 1] = starts[i] + min(fanout, indptr[rows[i] + 1] - indptr[rows[i]])
    columns = np.empty(starts[-1], np.int64)
    values = np.empty(starts[-1], np.float32)
    nodes = np.empty(len(first_nodes) + starts[-1], np.int64)
    known = len(first_nodes)
    for i in range(known):
        nodes[i] = first_nodes[i]
        numbers[nodes[i]] = i
    for i in range(len(rows)):
        first = indptr[rows[i]]
        length = indptr[rows[i] + 1] - first
        chosen = columns[starts[i] : starts[i + 1]]
        if len(chosen) == length:
            for k in range(length):
                chosen[k] = k
        else:
            choose_distinct(chosen, length, substream(key, rows[i]))
        for k in range(len(chosen)):
            entry = first + chosen[k]
            scale = length / len(chosen)
            values[starts[i] + k] = scale if weights is None else scale * weights[entry]
            chosen[k] = indices[entry]
    # In a loop of its own, in which loads from random places overlap.
    for k in range(len(columns)):
        node = columns[k]
        place = numbers[node]
        if place < 0:
            place = known
            numbers[node] = known
            nodes[known] = node
            known += 1
        columns[k] = place
    for i in range(known):
        numbers[nodes[i]] = -1
    return starts, columns, values, nodes[:known].copy()


@compiled
def select_columns(indptr: Any, indices: Any, weights: Any, rows: Any, columns: Any, factors: Any, scratch: Any) -> Any:
    """Return the entries of ``rows`` in the distinct ``columns``, multiplied by the factor of their column."""
    numbers, bits = scratch
    for k in range(len(columns)):
        numbers[columns[k]] = k
        mark(bits, columns[k])
    starts, entries = marked_entries(indptr, indices, rows, bits)
    selected = np.empty(len(entries), np.int64)
    values = np.empty(len(entries), np.float32)
    for k in range(len(entries)):
        place = numbers[indices[entries[k]]]
        selected[k] = place
        values[k] = factors[place] if weights is None else factors[place] * weights[entries[k]]
    for k in range(len(columns)):
        numbers[columns[k]] = -1
        bits[columns[k] >> 6] = 0
    return starts, selected, values


@compiled
def neighbour_masses(indptr: Any, indices: Any, weights: Any, rows: Any, scratch: Any) -> Any:
    """Return the columns in which the rows have entries, and the sum of each over the rows, divided by their sums."""
    size = 0
    for i in range(len(rows)):
        size += indptr[rows[i] + 1] - indptr[rows[i]]
    numbers = scratch.numbers
    nodes, masses = np.empty(size, np.int64), np.zeros(size, np.float64)
    known = 0
    for i in range(len(rows)):
        first, last = indptr[rows[i]], indptr[rows[i] + 1]
        total = float(last - first)
        if weights is not None:
            total = 0.0
            for entry in range(first, last):
                total += weights[entry]
        for entry in range(first, last):
            node = indices[entry]
            place = numbers[node]
            if place < 0:
                place = known
                numbers[node] = known
                nodes[known] = node
                known += 1
            masses[place] += (1.0 if weights is None else weights[entry]) / total
    for i in range(known):
        numbers[nodes[i]] = -1
    return nodes[:known].copy(), masses[:known].copy()


@compiled
def column_squares(indptr: Any, indices: Any, weights: Any) -> Any:
    """Return the squared Euclidean norm of every column."""
    squares = np.zeros(len(indptr) - 1, np.float64)
    for entry in range(len(indices)):
        squares[indices[entry]] += 1.0 if weights is None else np.float64(weights[entry]) ** 2
    return squares


@compiled
def has_entry(indptr: Any, indices: Any, row: Any, column: Any) -> Any:
    """Whether the matrix has an entry; columns are sorted."""
    place = indptr[row] + np.searchsorted(indices[indptr[row] : indptr[row + 1]], column)
    return place < indptr[row + 1] and indices[place] == column
