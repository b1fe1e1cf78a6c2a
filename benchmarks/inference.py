"""What inference costs per node: ``python benchmarks/inference.py``.

SIGN multiplies rows of stored hops by its weights; a network on a graph multiplies all nodes by its matrix, too. One
table compares both, with the widths of the paper's timing table: SIGN's network on stored hops, ClusterGCN's layers
with products of our engine, and the same layers in batches of nodes with all their neighbours, as loaders of PyG and
DGL serve them. Numbers are processor time of one thread, which other programs hardly change, the least of three rounds.
The graph is ``communities``.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numba
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scipy.sparse import csr_array

from sign.datasets.synthetic.communities import Communities
from sign.engines.local.engine import LocalEngine
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency

FEATURES, CLASSES = 100, 47  # of ogbn-products
SIGN_UNITS, CLUSTERGCN_UNITS = 512, 256
LAYERS = ((FEATURES, CLUSTERGCN_UNITS), (CLUSTERGCN_UNITS, CLUSTERGCN_UNITS), (CLUSTERGCN_UNITS, CLASSES))
ROWS = 8192  # of a dense product
BATCH, BATCHES = 1024, 10
ROUNDS = 3


def processor_seconds(function: Callable[[], object]) -> float:
    """The least processor time of some rounds, after one that warms up."""
    function()
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        function()
        rounds.append(time.process_time() - started)
    return min(rounds)


def dense(shapes: list[tuple[int, int]]) -> tuple[float, int]:
    """Seconds per node of the products with weights of these shapes, and their operations per node."""
    pairs = [(torch.randn(ROWS, inputs), torch.randn(inputs, outputs)) for inputs, outputs in shapes]
    seconds = processor_seconds(lambda: [rows @ weights for rows, weights in pairs])
    return seconds / ROWS, sum(2 * inputs * outputs for inputs, outputs in shapes)


def sign(power: int, units: int = SIGN_UNITS) -> list[tuple[int, int]]:
    """The weights of SIGN on ogbn-products: a branch per hop, and two layers after their concatenation."""
    hops = power + 1
    return [*[(FEATURES, units)] * hops, (hops * units, units), (units, CLASSES)]


def clustergcn() -> list[tuple[int, int]]:
    """The weights of ClusterGCN: each layer has one for the node and one for the mean of its neighbours."""
    return [shape for shape in LAYERS for _ in range(2)]


def products(matrix: Matrix) -> float:
    """Seconds per node of the products with the matrix, one per layer."""
    engine, nodes, seconds = LocalEngine(threads=1), matrix.csr.nodes, 0.0
    for inputs, _ in LAYERS:
        x = np.random.default_rng(0).random((nodes, inputs), dtype=np.float32)
        out = np.empty_like(x)
        seconds += processor_seconds(lambda x=x, out=out: engine.product(matrix, x, out=out))
    return seconds / nodes


def batch(matrix: csr_array, x: np.ndarray, rows: np.ndarray, own: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """One layer for some nodes, from a copy of the rows of all their neighbours."""
    block = matrix[rows]
    nodes, columns = np.unique(block.indices, return_inverse=True)
    block = csr_array((block.data, columns, block.indptr), shape=(len(rows), len(nodes)))
    return (block @ x[nodes]) @ mean + x[rows] @ own


def by_batches(matrix: Matrix) -> float:
    """Seconds per node of all layers in batches, of which each copies the rows of all neighbours."""
    scipy, seconds = matrix.to_scipy(), 0.0
    for inputs, outputs in LAYERS:
        x = np.random.default_rng(0).random((scipy.shape[0], inputs), dtype=np.float32)
        weights = np.ones((2, inputs, outputs), np.float32)
        for first in range(0, BATCH * BATCHES, BATCH):
            rows = np.arange(first, first + BATCH)
            seconds += processor_seconds(partial(batch, scipy, x, rows, *weights))
    return seconds / (BATCH * BATCHES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--edges", type=int, default=1_260_000, help="25 per node, as in ogbn-products")
    options = parser.parse_args()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    graph = Communities(nodes=options.nodes, edges=options.edges, features=1).load()
    matrix = NormalizedAdjacency("row").matrix(graph)
    table = Table("", "µs per node", "operations of weights")
    for power in (2, 4, 6, 8):
        seconds, operations = dense(sign(power))
        table.add_row(f"SIGN-{power}", f"{seconds * 1e6:.1f}", f"{operations:,}")
    seconds, operations = dense(sign(2, CLUSTERGCN_UNITS))
    table.add_row(f"SIGN-2 with {CLUSTERGCN_UNITS} units", f"{seconds * 1e6:.1f}", f"{operations:,}")
    weights, operations = dense(clustergcn())
    pass_ = products(matrix)
    table.add_row("ClusterGCN, a pass over all edges", f"{(weights + pass_) * 1e6:.1f}", f"{operations:,}")
    table.add_row("  of these, products with the matrix", f"{pass_ * 1e6:.1f}", "")
    batches = by_batches(matrix)
    table.add_row(f"ClusterGCN, in batches of {BATCH} nodes", f"{batches * 1e6:.1f}", f"{operations:,}")
    Console().print(table)


if __name__ == "__main__":
    main()
