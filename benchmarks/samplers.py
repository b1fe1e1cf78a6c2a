"""Samplers beside their peers: ``python benchmarks/samplers.py``.

One run compares our samplers with plain numpy (and scipy's slices) and, where an interpreter that can import it is
passed as ``--dgl-python``, with DGL's. DGL 2.1.0, the last version on PyPI, needs an environment of its own:
``pip install dgl==2.1.0 torch==2.2.1 "torchdata<0.8" "numpy<2" "pandas<3" pydantic pyyaml``. The contenders take turns,
and the fastest round of each counts. Numbers are sampled edges per second; of Node2Vec, steps of walks. The graph is
``communities``, its matrix D⁻¹ W.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

from sign.baselines.samplers.asgcn import ASGCNSampler
from sign.baselines.samplers.clustergcn import ClusterSampler
from sign.baselines.samplers.fastgcn import FastGCNSampler
from sign.baselines.samplers.graphsaint import SAINTEdgeSampler, SAINTNodeSampler, SAINTWalkSampler
from sign.baselines.samplers.neighbour import NeighbourSampler
from sign.baselines.samplers.node2vec import Node2VecSampler
from sign.baselines.samplers.vrgcn import VRGCNSampler
from sign.datasets.synthetic.communities import Communities
from sign.graph.csr import CSR
from sign.graph.partition import entries_of
from sign.operators.adjacency import NormalizedAdjacency

PATIENCE = 2.0  # seconds after which a contender samples no more batches in a round
BATCHES, BATCH = 20, 1024
FANOUTS, VR_FANOUTS, SIZES = [10, 10], [2, 2], [1024, 1024]
NODES_DRAWN, EDGES_DRAWN, ROOTS, LENGTH = 6000, 3000, 3000, 2  # GraphSAINT
CLUSTERS_PER_BATCH = 20
WALK, P, Q = 40, 0.5, 2.0  # Node2Vec
Batches = Iterator[int]  # the number of edges of each


def ours(matrix: CSR, clusters: np.ndarray) -> dict[str, Callable[[], Batches]]:
    """Our samplers: edges of each batch."""
    targets = np.arange(min(matrix.nodes, BATCHES * BATCH))
    base: dict[str, Any] = {"adjacency": matrix, "targets": targets}
    batch: dict[str, Any] = {**base, "batch_size": BATCH}
    saint: dict[str, Any] = {**base, "batches": BATCHES}
    scores = np.ones(matrix.nodes)
    layered = {
        "neighbour": NeighbourSampler(**batch, fanouts=FANOUTS),
        "fastgcn": FastGCNSampler(**batch, sizes=SIZES),
        "asgcn": ASGCNSampler(**batch, sizes=SIZES, scores=scores),
    }
    control = VRGCNSampler(**batch, fanouts=VR_FANOUTS)
    subgraphs = {
        "cluster": ClusterSampler(**base, clusters=clusters, clusters_per_batch=CLUSTERS_PER_BATCH),
        "saint-node": SAINTNodeSampler(**saint, nodes_drawn=NODES_DRAWN),
        "saint-edge": SAINTEdgeSampler(**saint, edges_drawn=EDGES_DRAWN),
        "saint-walk": SAINTWalkSampler(**saint, roots=ROOTS, length=LENGTH),
    }
    walks = Node2VecSampler(**batch, walk_length=WALK, context_size=WALK, p=P, q=Q)

    def of_layers(sampler: Any) -> Batches:
        return (sum(len(block.indices) for block in batch.blocks) for batch in sampler.epoch(0))

    def of_control() -> Batches:
        return (sum(len(block.indices) for block in (*batch.blocks, *batch.complete)) for batch in control.epoch(0))

    def of_subgraphs(sampler: Any) -> Batches:
        return (len(batch.block.indices) for batch in sampler.epoch(0))

    return {
        **{name: partial(of_layers, sampler) for name, sampler in layered.items()},
        "vrgcn": of_control,
        **{name: partial(of_subgraphs, sampler) for name, sampler in subgraphs.items()},
        "node2vec": lambda: (batch.walks[:, 1:].size for batch in walks.epoch(0)),
    }


class Plain:
    """The same samplers in numpy and scipy, one batch per call."""

    def __init__(self, matrix: CSR, clusters: np.ndarray) -> None:
        self.matrix, self.scipy, self.clusters = matrix, matrix.to_scipy(), clusters
        self.rng = np.random.default_rng(0)
        squares = np.bincount(matrix.indices, matrix.weights**2, matrix.nodes)
        self.cumulative = np.cumsum(squares / squares.sum())
        self.rows = matrix.row_indices().astype(np.int64)
        self.edges = self.rows * matrix.nodes + matrix.indices  # sorted

    def sampled_rows(self, rows: np.ndarray, fanout: int) -> tuple[int, np.ndarray]:
        """Sample entries of rows by sorting random keys; returns how many, and the nodes that they add."""
        indptr, entries = entries_of(self.matrix.indptr, rows)
        lengths = np.diff(indptr)
        row = np.repeat(np.arange(len(rows)), lengths)
        order = np.argsort(row + self.rng.random(len(row)))
        chosen = entries[order[np.arange(len(row)) - indptr[:-1].repeat(lengths) < fanout]]
        taken = np.minimum(lengths, fanout)
        scale = (lengths / np.maximum(taken, 1)).repeat(taken)
        columns = self.matrix.indices[chosen]
        nodes, inverse = np.unique(np.concatenate([rows, columns]), return_inverse=True)
        _ = inverse[len(rows) :], self.matrix.weights[chosen] * scale
        return len(columns), nodes

    def targets(self) -> np.ndarray:
        return self.rng.choice(self.matrix.nodes, min(BATCH, self.matrix.nodes), replace=False)

    def neighbour(self) -> int:
        nodes, edges = self.targets(), 0
        for fanout in FANOUTS:
            sampled, nodes = self.sampled_rows(nodes, fanout)
            edges += sampled
        return edges

    def vrgcn(self) -> int:
        nodes, edges = self.targets(), 0
        for fanout in VR_FANOUTS:
            complete = self.scipy[nodes]
            np.unique(complete.indices, return_inverse=True)
            sampled, nodes = self.sampled_rows(nodes, fanout)
            edges += sampled + complete.nnz
        return edges

    def drawn_columns(self, rows: np.ndarray, columns: np.ndarray, q: np.ndarray, size: int) -> tuple[int, np.ndarray]:
        nodes, counts = np.unique(columns, return_counts=True)
        block = self.scipy[rows][:, nodes]
        block.data *= (counts / (size * q[nodes])).astype(np.float32)[block.indices]
        return block.nnz, nodes

    def fastgcn(self) -> int:
        nodes, edges = self.targets(), 0
        q = np.diff(self.cumulative, prepend=0)
        for size in SIZES:
            drawn = np.searchsorted(self.cumulative, self.rng.random(size) * self.cumulative[-1], "right")
            sampled, nodes = self.drawn_columns(nodes, drawn, q, size)
            edges += sampled
        return edges

    def asgcn(self) -> int:
        nodes, edges = self.targets(), 0
        for size in SIZES:
            q = self.scipy[nodes].sum(axis=0)
            q /= q.sum()
            cumulative = np.cumsum(q)
            drawn = np.searchsorted(cumulative, self.rng.random(size) * cumulative[-1], "right")
            sampled, nodes = self.drawn_columns(nodes, drawn, q, size)
            edges += sampled
        return edges

    def induced(self, nodes: np.ndarray) -> int:
        nodes = np.unique(nodes)
        return int(self.scipy[nodes][:, nodes].nnz)

    def cluster(self) -> int:
        chosen = self.rng.choice(self.clusters.max() + 1, CLUSTERS_PER_BATCH, replace=False)
        return self.induced(np.flatnonzero(np.isin(self.clusters, chosen)))

    def saint_node(self) -> int:
        draws = self.rng.random(NODES_DRAWN) * self.cumulative[-1]
        return self.induced(np.searchsorted(self.cumulative, draws, "right"))

    def neighbours(self, nodes: np.ndarray) -> np.ndarray:
        """A uniform neighbour of each node that has one."""
        first, last = self.matrix.indptr[nodes], self.matrix.indptr[nodes + 1]
        places = first + (self.rng.random(len(nodes)) * (last - first)).astype(np.int64)
        return np.where(last > first, self.matrix.indices[np.minimum(places, self.matrix.entries - 1)], nodes)

    def saint_edge(self) -> int:
        nodes = self.rng.integers(0, self.matrix.nodes, EDGES_DRAWN)
        return self.induced(np.concatenate([nodes, self.neighbours(nodes)]))

    def saint_walk(self) -> int:
        visited = [self.rng.integers(0, self.matrix.nodes, ROOTS)]
        for _ in range(LENGTH):
            visited.append(self.neighbours(visited[-1]))
        return self.induced(np.concatenate(visited))

    def node2vec(self) -> int:
        """Walks that all take a step at the same time, and draw again where a step is rejected."""
        previous, node = None, self.targets()
        largest = max(1, 1 / P, 1 / Q)
        for _ in range(WALK - 1):
            following = self.neighbours(node)
            waiting = np.arange(len(node)) if previous is not None else np.empty(0, np.int64)
            while len(waiting):
                last, new = previous[waiting], following[waiting]
                edge = last * self.matrix.nodes + new
                place = np.minimum(np.searchsorted(self.edges, edge), len(self.edges) - 1)
                weight = np.where(new == last, 1 / P, np.where(self.edges[place] == edge, 1, 1 / Q))
                waiting = waiting[self.rng.random(len(waiting)) * largest >= weight]
                following[waiting] = self.neighbours(node[waiting])
            previous, node = node, following
        return len(node) * (WALK - 1)

    def batches(self, name: str) -> Batches:
        sample = getattr(self, name.replace("-", "_"))
        return (sample() for _ in range(BATCHES))


class DGL:
    """A process of another interpreter that samples with DGL: ``dgl_samplers.py``."""

    def __init__(self, python: str, matrix: CSR, clusters: np.ndarray, folder: Path) -> None:
        constants = {
            **{"BATCHES": BATCHES, "BATCH": BATCH, "FANOUTS": FANOUTS, "CLUSTERS_PER_BATCH": CLUSTERS_PER_BATCH},
            **{"NODES_DRAWN": NODES_DRAWN, "EDGES_DRAWN": EDGES_DRAWN, "ROOTS": ROOTS, "LENGTH": LENGTH},
            **{"WALK": WALK, "P": P, "Q": Q, "PATIENCE": PATIENCE},
        }
        np.savez(folder / "graph.npz", indptr=matrix.indptr, indices=matrix.indices, clusters=clusters)
        script = str(Path(__file__).with_name("dgl_samplers.py"))
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.process = subprocess.Popen(
            [python, "-W", "ignore", script, str(folder / "graph.npz"), json.dumps(constants)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**variables, "OMP_NUM_THREADS": str(numba.get_num_threads()), "DGLBACKEND": "pytorch"},
        )

    def rate(self, name: str) -> float | None:
        """Edges per second, or None for a sampler that DGL does not have."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit("DGL's process ended; its error is above")
        return json.loads(answer)


def rate(batches: Batches) -> float:
    """Edges per second."""
    started, edges = time.perf_counter(), 0
    for batch in batches:
        edges += batch
        if time.perf_counter() - started > PATIENCE:
            break
    return edges / (time.perf_counter() - started)


def race(matrix: CSR, clusters: np.ndarray, rounds: int, dgl_python: str | None, folder: Path) -> Table:
    """Edges per second of each sampler, the fastest of some rounds."""
    own, plain = ours(matrix, clusters), Plain(matrix, clusters)
    dgl = DGL(dgl_python, matrix, clusters, folder) if dgl_python else None
    table = Table("sampler", "ours, edges/s", "numpy, edges/s", "ours / numpy", "DGL, edges/s", "ours / DGL")
    for name, start in own.items():
        next(start())  # compiles
        fastest: dict[str, float] = {}
        for _ in range(rounds):
            rates = {"ours": rate(start()), "numpy": rate(plain.batches(name)), "dgl": dgl.rate(name) if dgl else None}
            fastest |= {key: max(value, fastest.get(key, 0)) for key, value in rates.items() if value is not None}
        cells = [f"{fastest['ours']:,.0f}"]
        for peer in ("numpy", "dgl"):
            if peer in fastest:
                cells += [f"{fastest[peer]:,.0f}", f"{fastest['ours'] / fastest[peer]:.1f}"]
        table.add_row(name, *cells)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--edges", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dgl-python", help="an interpreter that can import dgl")
    options = parser.parse_args()
    graph = Communities(nodes=options.nodes, edges=options.edges, features=1).load()
    matrix = CSR.from_scipy(NormalizedAdjacency("row").matrix(graph).to_scipy())
    clusters = np.arange(matrix.nodes) * 1000 // matrix.nodes  # partitioning itself is METIS's work
    with tempfile.TemporaryDirectory() as folder:
        table = race(matrix, clusters, options.rounds, options.dgl_python, Path(folder))
    table.title = f"{matrix.nodes:,} nodes, {matrix.entries:,} entries, {numba.get_num_threads()} threads"
    Console().print(table)


if __name__ == "__main__":
    main()
