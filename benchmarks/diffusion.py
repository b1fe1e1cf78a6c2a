"""Diffusion beside its peers: ``python benchmarks/diffusion.py``.

One run compares a product, and two hops from the edge list, with scipy (what the official code uses), torch's
compressed rows, PyG's ``transforms.SIGN`` and, where it is installed, python-graphblas. The contenders take turns,
and the fastest of their rounds counts, so that a busy machine is as busy for all of them; peak memory is measured in
a process for each. Graphs: ``communities`` of three sizes, a factor 4 apart, or look-alikes of the paper's data
sets: ``--like reddit --scale 0.2``. The table and the plot go to ``--output``. ``--growth`` shows how our time and
memory grow with edges and with features, on a million nodes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from sign.datasets.synthetic.communities import Communities
from sign.datasets.synthetic.edge_kernels import draw_edges
from sign.datasets.synthetic.lookalike import SIZES, Lookalike
from sign.system import memory

CONTENDERS = ("ours", "torch", "scipy", "graphblas", "pyg")
ROUNDS = 9
PATIENCE = 15.0  # seconds after which a slow contender runs no more rounds
LARGEST = (1_000_000, 10_000_000)


def seconds(function: Callable[[], Any]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


# Each contender gives, for edges (each once) and features, two functions: one product, and two hops.


def ours(source, target, x) -> tuple[Callable, Callable]:
    from sign.engines.local.engine import LocalEngine
    from sign.graph.csr import CSR
    from sign.operators.adjacency import NormalizedAdjacency
    from sign.testing import graph_of

    engine, operator = LocalEngine(), NormalizedAdjacency()

    def build() -> Any:
        # the checks of a data set are not part of the comparison, and the operator reads nothing else
        return operator.matrix(SimpleNamespace(undirected=CSR.from_edges(source, target, len(x), both=True)))

    def two_hops() -> None:
        matrix = build()
        engine.product(matrix, engine.product(matrix, x))

    out = np.empty_like(x)  # a chain of products writes to two arrays in turn
    small = graph_of(np.zeros((0, 2)), 2)  # compiles
    engine.product(operator.matrix(small), small.features)
    matrix = build()
    return lambda: engine.product(matrix, x, out=out), two_hops


def official(source, target, x) -> tuple[Callable, Callable]:
    """scipy, as the official code does it."""
    import scipy.sparse

    nodes = len(x)

    def build() -> Any:
        rows, columns = np.concatenate([source, target]), np.concatenate([target, source])
        ones = np.ones(len(rows), np.float32)
        matrix = scipy.sparse.coo_array((ones, (rows, columns)), (nodes, nodes)).tocsr()
        matrix = matrix + scipy.sparse.eye_array(nodes, dtype=np.float32, format="csr")
        scale = scipy.sparse.diags_array(1 / np.sqrt(matrix.sum(axis=1))).astype(np.float32)
        return (scale @ matrix @ scale).tocsr()

    def two_hops() -> None:
        matrix = build()
        matrix @ (matrix @ x)

    matrix = build()
    return lambda: matrix @ x, two_hops


def torch_csr(source, target, x) -> tuple[Callable, None]:
    import torch

    from sign.engines.torch import _sparse
    from sign.graph.csr import CSR
    from sign.operators.adjacency import NormalizedAdjacency
    from sign.testing import graph_of

    graph = graph_of(np.stack([source, target], axis=1), len(x), features=x)
    sparse = _sparse(CSR.from_scipy(NormalizedAdjacency().matrix(graph).to_scipy()), torch.device("cpu"))
    dense = torch.from_numpy(x)
    return lambda: sparse @ dense, None


def graphblas(source, target, x) -> tuple[Callable, None]:
    import graphblas

    from sign.operators.adjacency import NormalizedAdjacency
    from sign.testing import graph_of

    graph = graph_of(np.stack([source, target], axis=1), len(x), features=x)
    sparse = graphblas.io.from_scipy_sparse(NormalizedAdjacency().matrix(graph).to_scipy())
    dense = graphblas.Matrix.from_dense(x)
    return lambda: sparse.mxm(dense, graphblas.semiring.plus_times).new(), None


def pyg(source, target, x) -> tuple[None, Callable]:
    import torch
    import torch_geometric.transforms as T
    from torch_geometric.data import Data

    both = np.stack([np.concatenate([source, target]), np.concatenate([target, source])])
    edges = torch.from_numpy(both)
    return None, lambda: T.SIGN(2)(Data(x=torch.from_numpy(x), edge_index=edges))


MAKERS = {"ours": ours, "scipy": official, "torch": torch_csr, "graphblas": graphblas, "pyg": pyg}


def load(folder: Path) -> tuple[np.ndarray, ...]:
    return tuple(np.load(folder / f"{part}.npy") for part in ("source", "target", "x"))


def peak_memory(name: str, folder: Path) -> int:
    """What one contender takes beside its input; runs in a process of its own."""
    inputs = load(folder)
    before = memory.resident()
    for function in MAKERS[name](*inputs):
        if function:
            function()
    return memory.peak() - before


def race(names: list[str], folder: Path) -> dict[str, dict[str, float]]:
    """The fastest round of every contender, at a product and at two hops."""
    inputs = load(folder)
    fastest: dict[str, dict[str, float]] = {name: {} for name in names}
    for number, task in enumerate(("product", "two_hops")):
        runners = {name: made[number] for name in names if (made := MAKERS[name](*inputs))[number]}
        for function in runners.values():
            function()  # warm
        spent = dict.fromkeys(runners, 0.0)
        for _ in range(ROUNDS):
            for name, function in runners.items():
                if spent[name] < PATIENCE:
                    taken = seconds(function)
                    spent[name] += taken
                    fastest[name][task] = min(fastest[name].get(task, np.inf), taken)
    return fastest


def copy_bandwidth() -> float:
    """Bytes a second that all cores read and write when they copy, the limit of anything that moves memory."""
    from numba import njit, prange

    @njit(parallel=True)
    def copy(a, b):
        for i in prange(len(a)):
            b[i] = a[i]

    a = np.ones(1 << 27, np.float32)
    b = np.zeros_like(a)
    copy(a[:10], b[:10])
    return 2 * a.nbytes / min(seconds(lambda: copy(a, b)) for _ in range(ROUNDS))


def graphs(options: argparse.Namespace) -> dict[str, Any]:
    """The data sets to compare on, by name."""
    if options.like:
        return {
            f"{options.like} × {options.scale:g}": Lookalike(name="look-alike", like=options.like, scale=options.scale)
        }
    nodes, edges = (int(size * options.scale) for size in LARGEST)
    sizes = [1] if options.largest else [16, 4, 1]
    return {
        f"communities, {nodes // part:,} nodes": Communities(
            nodes=nodes // part, edges=edges // part, features=options.features
        )
        for part in sizes
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--like", choices=list(SIZES), help="a data set of the paper instead of communities")
    parser.add_argument("--scale", type=float, default=1.0, help="of nodes and edges")
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--largest", action="store_true", help="only the largest graph")
    parser.add_argument("--growth", action="store_true", help="how ours grows with edges and features")
    parser.add_argument("--without", nargs="*", default=[], choices=CONTENDERS)
    parser.add_argument("--output", type=Path, default=Path("outputs/benchmarks"))
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contender:
        print(peak_memory(options.contender, options.folder))
        return
    if options.growth:
        growth()
        return
    copied = copy_bandwidth()
    table = Table(title=f"Two hops on {os.cpu_count()} cores; they copy {copied / 1e9:.1f} GB/s (read and write)")
    for column in ("graph", "entries", "", "product, s", "gathered GB/s", "ratio", "two hops, s", "ratio", "memory"):
        table.add_column(column, justify="left" if column in ("graph", "") else "right")
    results = []
    for title, dataset in graphs(options).items():
        with tempfile.TemporaryDirectory() as folder:
            entries, features = save(dataset, Path(folder))
            peaks = {name: run_apart(name, Path(folder)) for name in CONTENDERS if name not in options.without}
            names = [name for name, peak in peaks.items() if peak is not None]
            for name in set(peaks) - set(names):
                print(f"{title}: {name} is not installed, or failed", file=sys.stderr)
            fastest = race(names, Path(folder))
            for name in names:
                result = {"graph": title, "entries": entries, "features": features, "name": name}
                results.append(result | {"memory": peaks[name]} | fastest[name])
                table.add_row(*row(results[-1], fastest["ours"]))
            table.add_section()
    Console(width=130).print(table)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "diffusion.json").write_text(json.dumps({"copy": copied, "results": results}, indent=2))
    print(plot(results, copied, options.output / "diffusion.png"))


def growth() -> None:
    """Two hops of ours with four times the edges, twice; and with four times the features, twice."""
    table = Table(title="Two hops from the edge list, 1,000,000 nodes")
    for column in ("edges", "features", "seconds", "ns an edge and feature", "memory"):
        table.add_column(column, justify="right")
    nodes = 1_000_000
    for edges, features in ((2_500_000, 64), (10_000_000, 64), (40_000_000, 64), (10_000_000, 16), (10_000_000, 256)):
        with tempfile.TemporaryDirectory() as name:
            folder, ends = Path(name), np.empty((2, edges), np.int64)
            draw_edges(0, 0, nodes, 10, 618_033, *ends)
            np.save(folder / "source", ends[0])
            np.save(folder / "target", ends[1])
            np.save(folder / "x", np.random.default_rng(0).random((nodes, features), np.float32))
            _, two_hops = ours(*load(folder))
            two_hops()  # warm
            taken = min(seconds(two_hops) for _ in range(3))
            peak = run_apart("ours", folder)
        each = taken / edges / features * 1e9
        table.add_row(f"{edges:,}", f"{features}", f"{taken:.2f}", f"{each:.2f}", memory.format_size(peak or 0))
    Console(width=130).print(table)


def save(dataset: Any, folder: Path) -> tuple[int, int]:
    """The edges, each once, and the features as files."""
    graph = dataset.load()
    csr = graph.undirected
    upper = csr.row_indices() < csr.indices
    np.save(folder / "source", csr.row_indices()[upper].astype(np.int64))
    np.save(folder / "target", csr.indices[upper].astype(np.int64))
    np.save(folder / "x", graph.features)
    return csr.entries, graph.features.shape[1]


def run_apart(name: str, folder: Path) -> int | None:
    """The peak memory of a contender in a process of its own; None where it cannot run."""
    command = [sys.executable, __file__, "--contender", name, "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def row(result: dict[str, Any], base: dict[str, float]) -> list[str]:
    cells = [result["graph"], f"{result['entries']:,}", result["name"]]
    if product := result.get("product"):
        gathered = result["entries"] * result["features"] * 4 / product
        cells += [f"{product:.3f}", f"{gathered / 1e9:.1f}", f"{product / base['product']:.2f}"]
    else:
        cells += ["", "", ""]
    both = result.get("two_hops")
    cells += [f"{both:.2f}", f"{both / base['two_hops']:.2f}"] if both else ["", ""]
    return [*cells, memory.format_size(result["memory"])]


def plot(results: list[dict[str, Any]], copied: float, file: Path) -> Path:
    """Seconds of a product and peak memory against entries."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for name in CONTENDERS:
        mine = [r for r in results if r["name"] == name]
        for axis, what in zip(axes, ("two_hops" if name == "pyg" else "product", "memory"), strict=True):
            label = f"{name}, two hops" if name == "pyg" else name
            axis.plot([r["entries"] for r in mine], [r[what] for r in mine], marker="o", label=label)
    features = results[0]["features"]
    entries = np.array(sorted({r["entries"] for r in results}))
    axes[0].plot(entries, entries * features * 4 / copied, "k--", label="copying what is gathered")
    for axis, title in zip(axes, (f"seconds, {features} features", "peak memory beside the input, bytes"), strict=True):
        axis.set(xscale="log", yscale="log", xlabel="entries", title=title)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=150)
    return file


if __name__ == "__main__":
    main()
