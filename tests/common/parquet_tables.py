"""Parquet tables of many files, and a graph as two of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from sign.graph.graph import SPLITS, Graph


def write_files(folder: Path, columns: dict[str, Any], files: int = 3, seed: int = 0) -> Path:
    """Write a table to a folder of files, its rows in random order."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    order = np.random.default_rng(seed).permutation(table.num_rows)
    for number, rows in enumerate(np.array_split(order, files)):
        pa.parquet.write_table(table.take(rows), folder / f"part-{number}.parquet")
    return folder


def names_of(nodes: int, text: bool = True) -> list[Any]:
    """Ids of nodes, whose order as text or integers is not that of the nodes."""
    scattered = (7919 * np.arange(1, nodes + 1)) % 104729
    return [f"n{number}" for number in scattered] if text else scattered.tolist()


def write_graph_tables(folder: Path, graph: Graph, ids: list[Any], files: int = 3, **columns: Any) -> dict[str, str]:
    """Write a graph as ``edges`` and ``nodes``, and return these settings; its edges are listed in both directions."""
    csr, names = graph.adjacency, np.array(ids, object)
    ends = {"source": names[csr.row_indices()].tolist(), "target": names[csr.indices].tolist()}
    ends = {name: pa.array(values, pa.array(ids).type) for name, values in ends.items()}
    weights = {} if csr.weights is None else {"weight": csr.weights}
    split = np.full(graph.nodes, "", object)
    for name in SPLITS:
        split[graph.nodes_of(name)] = name
    labels = [f"class{label}" if label >= 0 else None for label in graph.labels] if graph.labels.ndim == 1 else None
    label = {"label": labels} if labels else {f"label_{k}": graph.labels[:, k] for k in range(graph.classes)}
    if not columns:
        columns = {
            f"x{number}": graph.features[:, slice(number, number + 1)][:, 0]
            for number in range(graph.features.shape[1])
        }
    edges = write_files(folder / "edges", ends | weights, files)
    nodes = write_files(folder / "nodes", {"id": ids, **label, "split": split.tolist(), **columns}, files)
    return {"edges": str(edges), "nodes": str(nodes)}
