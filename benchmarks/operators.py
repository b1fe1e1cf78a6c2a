"""Operators against their peers, in one run: ``python benchmarks/operators.py``.

Personalised PageRank by push against PyG's (the one of GDC) with the same threshold, and by solve with its error
against the dense inverse; triangles against SuiteSparse's masked product (python-graphblas, where installed)
and scipy's unmasked one. Every figure is the best of three runs or more after compilation; on the large graph PPR
is run once.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch_geometric import EdgeIndex
from torch_geometric.utils import get_ppr

from sign.datasets.amazon_coauthor import FILES, AmazonCoauthor
from sign.datasets.cora import Cora
from sign.datasets.synthetic.communities import Communities
from sign.engines.local.engine import LocalEngine
from sign.graph.csr import CSR
from sign.graph.csr_transforms import add_self_loops
from sign.graph.graph import Graph
from sign.operators.motif_counts import triangles
from sign.operators.ppr import PersonalizedPageRank

DENSE_LIMIT = 10_000  # nodes up to which a dense inverse is made
SCIPY_LIMIT = 200_000_000  # entries of A² up to which scipy's product is tried

console = Console(width=130)


def best_of(function: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """The shortest time of so many runs, or of more where they are short, and the result."""
    seconds, result = [], None
    while len(seconds) < repetitions or (repetitions > 1 and sum(seconds) < 0.2):
        started = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - started)
    return min(seconds), result


def pyg_ppr(looped: CSR, alpha: float, epsilon: float) -> Any:
    pairs = torch.from_numpy(np.stack([looped.row_indices(), looped.indices]).astype(np.int64))
    edges = EdgeIndex(pairs, sparse_size=(looped.nodes, looped.nodes), sort_order="row")
    return get_ppr(edges, alpha=alpha, eps=epsilon, num_nodes=looped.nodes)


def same_entries(ours: CSR, index: torch.Tensor) -> bool:
    """Whether PyG's entries, in any order, are ours."""
    if ours.entries != index.shape[1]:
        return False
    codes = (index[0] * ours.nodes + index[1]).numpy()
    return bool((np.sort(codes) == ours.row_indices().astype(np.int64) * ours.nodes + ours.indices).all())


def ppr(graph: Graph, alpha: float, epsilon: float, repetitions: int, table: Table) -> None:
    push = PersonalizedPageRank("push", alpha=alpha, epsilon=epsilon)
    ours, matrix = best_of(lambda: push.matrix(graph), repetitions)
    looped = add_self_loops(graph.undirected)
    theirs, (index, _) = best_of(lambda: pyg_ppr(looped, alpha, epsilon), repetitions)
    solve = PersonalizedPageRank(alpha=alpha)
    engine = LocalEngine()
    operator, features = solve.matrix(graph), graph.features[:]  # dense, also where a bag of words is not
    seconds, solved = best_of(lambda: solve.apply(operator, features, engine.product), repetitions)
    table.add_row(
        graph.name,
        f"{graph.nodes:,} / {graph.adjacency.entries // 2:,}",
        f"{alpha:g} / {epsilon:g}",
        f"{matrix.csr.entries:,}",
        "yes" if same_entries(matrix.csr, index) else "no",
        f"{ours:.3f}",
        f"{theirs:.3f}",
        f"{theirs / ours:.1f}",
        f"{seconds:.2f} ({solve.products} products, d={features.shape[1]})",
        dense_error(graph, features, alpha, solved),
    )


def dense_error(graph: Graph, features: np.ndarray, alpha: float, solved: np.ndarray) -> str:
    """The largest difference to the dense inverse, relative to the largest entry."""
    if graph.nodes > DENSE_LIMIT:
        return "too large"
    weights = add_self_loops(graph.undirected).to_scipy().toarray().astype(np.float64)
    scale = weights.sum(axis=1) ** -0.5
    system = np.eye(graph.nodes) - (1 - alpha) * scale[:, None] * weights * scale[None, :]
    exact = np.linalg.solve(system, np.column_stack([features, np.ones(graph.nodes)]))
    expected = exact[:, :-1] / exact[:, -1:]
    return f"{np.abs(solved - expected).max() / np.abs(expected).max():.1e}"


def graphblas_triangles(csr: CSR) -> Callable[[], Any] | None:
    try:
        import graphblas as gb
    except ImportError:
        return None
    matrix = gb.io.from_scipy_sparse(csr.to_scipy().astype(np.int64))
    return lambda: matrix.mxm(matrix, gb.semiring.plus_pair).new(mask=matrix.S)


def count(graph: Graph, repetitions: int, table: Table) -> None:
    csr = graph.undirected
    ours, counts = best_of(lambda: triangles(csr), repetitions)
    masked = graphblas_triangles(csr)
    blas, product = best_of(masked, repetitions) if masked else (float("nan"), None)
    if product is not None and int(product.reduce_scalar().get(0)) != int(counts.sum()):
        raise SystemExit(f"{graph.name}: the masked product counts other triangles")
    scipy_seconds = float("nan")
    if int((np.diff(csr.indptr) ** 2).sum()) < SCIPY_LIMIT:
        matrix = csr.to_scipy()
        scipy_seconds, _ = best_of(lambda: (matrix @ matrix).multiply(matrix), repetitions)
    table.add_row(
        graph.name,
        f"{graph.nodes:,} / {csr.entries // 2:,}",
        f"{int(counts.sum()) // 6:,}",
        f"{ours:.3f}",
        "not installed" if masked is None else f"{blas:.3f}",
        "" if masked is None else f"{blas / ours:.1f}",
        "does not fit" if np.isnan(scipy_seconds) else f"{scipy_seconds:.3f}",
        "" if np.isnan(scipy_seconds) else f"{scipy_seconds / ours:.1f}",
    )


def main() -> None:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default="data", type=Path, help="where Amazon/... lies, in PyG's layout")
    parser.add_argument("--nodes", default=1_000_000, type=int, help="of the generated graph")
    parser.add_argument("--edges", default=10_000_000, type=int, help="of the generated graph")
    options = parser.parse_args()
    there = [name for name in ("photo", "computers") if (options.data_dir / FILES[name]).is_file()]
    real = [AmazonCoauthor(name=name, graph=name, data_dir=str(options.data_dir)) for name in there]
    small = [Cora().load(), *(dataset.load() for dataset in real)]
    tiny = Communities(nodes=100, edges=200).load()  # compiles everything, ours and theirs
    ppr(tiny, 0.1, 1e-2, 1, Table())
    count(tiny, 1, Table())
    large = Communities(nodes=options.nodes, edges=options.edges, features=16).load()

    counting = Table(title="Triangles: seconds, and how many times longer the peers take")
    for column in ("graph", "nodes / edges", "triangles", "ours", "graphblas", "×", "scipy", "×"):
        counting.add_column(column, justify="right")
    walking = Table(title="Personalised PageRank: seconds, and how many times longer PyG takes")
    for column in ("graph", "nodes / edges", "α / ε", "entries", "same", "push", "PyG", "×", "solve", "error"):
        walking.add_column(column, justify="right")
    for graph in (*small, large):
        count(graph, 3, counting)
    console.print(counting)
    for graph in small:
        ppr(graph, 0.05, 1e-4, 3, walking)
    ppr(large, 0.1, 2e-3, 1, walking)
    console.print(walking)


if __name__ == "__main__":
    main()
