"""Small graphs for doctests and tests."""

import numpy as np

from sign.graph.csr import CSR, Array, Floats
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix


def graph_of(
    edges: Array | list[tuple[int, int]],
    nodes: int,
    weights: Array | None = None,
    features: Array | None = None,
    directed: bool = False,
) -> Graph:
    """Return a graph with these edges, one class, and every node in the training split."""
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    source, target = pairs.T
    nothing = np.empty(0, np.int64)
    return Graph(
        name="test",
        adjacency=CSR.from_edges(source, target, nodes, weights, both=not directed),
        features=np.eye(nodes, dtype=np.float32) if features is None else features,
        labels=np.zeros(nodes, np.int64),
        classes=1,
        train=np.arange(nodes),
        val=nothing,
        test=nothing,
        directed=directed,
    )


def path(nodes: int) -> Graph:
    """Return the path 0 - 1 - ... with unit features."""
    return graph_of([(i, i + 1) for i in range(nodes - 1)], nodes)


def product(matrix: Matrix, x: Floats, /, *, out: Floats | None = None) -> Floats:
    """Return ``matrix @ x`` by scipy, without an engine."""
    result: Floats = matrix.to_scipy() @ x
    return result
