"""Batches of training nodes with sampled neighbours, on which an operator learns its parameters."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sign.errors import SignError
from sign.graph.classification import Origin
from sign.graph.csr import CSR, Array, Floats

BATCH = 128  # nodes


@dataclass(frozen=True)
class Learning:
    """How parameters are learned: training nodes, neighbours of each, epochs, Adam's settings, and the seed."""

    sample: int
    neighbours: int
    epochs: int
    learning_rate: float
    weight_decay: float
    seed: int


@dataclass(frozen=True, eq=False)
class NeighbourBatch:
    """Some nodes, and pairs (row of ``nodes``, row of ``read``) of them and sampled neighbours.

    ``entries`` are the positions of the pairs in the matrix. ``read`` begins with the nodes themselves; ``features``
    are its scaled rows, and ``weights`` those of the pairs.
    """

    nodes: Array
    read: Array
    rows: Array
    columns: Array
    entries: Array
    weights: Floats
    features: Floats


def neighbour_batches(training: Origin, csr: CSR, learning: Learning) -> Iterator[NeighbourBatch]:
    """Yield the batches of all epochs: the same nodes in a new order, with new neighbours.

    Raises
    ------
    SignError
        If the graph has no training nodes.
    """
    graph, rng = training.graph, np.random.default_rng(learning.seed)
    if not len(graph.train):
        raise SignError(f"{graph.name}: has no training nodes, on which the weights of an operator are learned")
    nodes = rng.permutation(graph.train)[: learning.sample]
    for _ in range(learning.epochs):
        order = rng.permutation(nodes)
        for first in range(0, len(order), BATCH):
            yield _batch(training, csr, order[first : first + BATCH], learning.neighbours, rng)


def _batch(training: Origin, csr: CSR, nodes: Array, most: int, rng: np.random.Generator) -> NeighbourBatch:
    rows, entries = sampled_entries(csr, nodes, most, rng)
    others = csr.indices[entries].astype(np.int64)
    beyond = np.setdiff1d(others, nodes)
    read = np.concatenate([nodes, beyond])
    order = np.argsort(read)
    return NeighbourBatch(
        nodes=nodes,
        read=read,
        rows=rows,
        columns=order[np.searchsorted(read, others, sorter=order)],
        entries=entries,
        weights=np.ones(len(entries), np.float32) if csr.weights is None else csr.weights[entries],
        features=training.scaling.apply(np.asarray(training.graph.features[read])),
    )


def sampled_entries(csr: CSR, nodes: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return pairs (position in ``nodes``, entry): all entries of a row, or ``most`` drawn with replacement."""
    starts, degrees = csr.indptr[nodes], np.diff(csr.indptr)[nodes]
    lengths = np.minimum(degrees, most)
    rows = np.repeat(np.arange(len(nodes)), lengths)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    drawn = rng.integers(0, np.maximum(degrees[rows], 1))
    return rows, starts[rows] + np.where(degrees[rows] > most, drawn, within)
