"""Random graphs for Hypothesis, their dense matrices, and graphs of which splits use a part."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.hops import Hops
from sign.engines.local.engine import LocalEngine
from sign.graph.csr_transforms import induced_subgraph
from sign.graph.graph import Graph
from sign.operators.base import Operator
from sign.testing import graph_of


@st.composite
def graphs(draw: st.DrawFn, directed: bool | None = None) -> Graph:
    """Small graphs: directed or not, weighted or not, with isolated nodes, self-loops and parallel edges."""
    nodes = draw(st.integers(1, 12))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.uniform(0.1, 3, len(edges)).astype(np.float32) if draw(st.booleans()) else None
    features = rng.standard_normal((nodes, draw(st.integers(1, 20)))).astype(np.float32)
    return graph_of(edges, nodes, weights, features, draw(st.booleans()) if directed is None else directed)


def dense(graph: Graph) -> np.ndarray:
    """The adjacency as a dense matrix of doubles."""
    return graph.adjacency.to_scipy().toarray().astype(np.float64)


def dense_undirected(graph: Graph) -> np.ndarray:
    """W of the paper: the mean of both directions."""
    matrix = dense(graph)
    return (matrix + matrix.T) / 2


def inverse(degrees: np.ndarray, power: float = 1.0) -> np.ndarray:
    """degrees ** -power, zero where there is no degree."""
    return np.array([d**-power if d > 0 else 0.0 for d in degrees])


def applied(operator: Operator, graph: Graph) -> np.ndarray:
    """The whole matrix of an operator: B applied to the unit vectors through the local engine."""
    resolved = operator.resolve(graph.inductive)
    eye = np.eye(graph.nodes, dtype=np.float32)
    return resolved.apply(resolved.matrix(graph), eye, LocalEngine(threads=1).product).astype(np.float64)


def row_normalized(matrix: np.ndarray) -> np.ndarray:
    """Each row divided by its sum; rows of zeros stay."""
    return np.diag(inverse(matrix.sum(axis=1))) @ matrix


def normalized(weights: np.ndarray) -> np.ndarray:
    """D^-1/2 W D^-1/2."""
    scale = np.diag(inverse(weights.sum(axis=1), 0.5))
    return scale @ weights @ scale


def assert_equivariant(operator: Operator, graph: Graph, tolerance: float = 1e-5) -> None:
    """Renumbering the nodes renumbers the operator: B(PGPᵀ) = P B(G) Pᵀ."""
    order = np.random.default_rng(0).permutation(graph.nodes)
    renumbered = replace(graph, adjacency=induced_subgraph(graph.adjacency, order), features=graph.features[order])
    expected = applied(operator, graph)[np.ix_(order, order)]
    np.testing.assert_allclose(applied(operator, renumbered), expected, atol=tolerance)


def partly_used(nodes: int = 400, edges: int = 900, **options: bool) -> Graph:
    """A sparse graph of which a few nodes are in a split."""
    graph = Communities(nodes=nodes, edges=edges, features=24, **options).load()
    return replace(graph, train=graph.train[:4], val=graph.val[:2], test=graph.test[:3])


def rows_of(hops: Hops, split: str) -> list[np.ndarray]:
    """The rows of a split, of each hop."""
    pairs = zip(hops.arrays[split], hops.rows[split], strict=True)
    return [np.array(array[rows]) for array, rows in pairs]
