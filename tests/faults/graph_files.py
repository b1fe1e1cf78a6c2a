"""A small good graph, and the layouts in which its files can be written."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

NODES = 12
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 10), (0, 10), (3, 9)]
WEIGHTS = [0.5 * (number + 1) for number in range(len(EDGES))]
FEATURES = np.round(np.random.default_rng(0).standard_normal((NODES, 3)), 3)
LABELS = ["red", "green", "blue"] * 4
SPLIT = ["train"] * 5 + ["val"] * 3 + ["test"] * 2 + [""] * 2
SPLITS = {split: [node for node in range(NODES) if SPLIT[node] == split] for split in ("train", "val", "test")}


@dataclass(frozen=True)
class Layout:
    """How the good graph is written: a name and the function that writes it to a folder and returns its path."""

    name: str
    write: Callable[[Path], Path]


def node_rows(ids: list[str] | None, labels: list[str] = LABELS) -> list[list[str]]:
    """Return the nodes table as cells, with its header."""
    header = [*(["id"] if ids else []), "label", "split", "x1", "x2", "x3"]
    rows = [
        [*([ids[node]] if ids else []), labels[node], SPLIT[node], *map(str, FEATURES[node])] for node in range(NODES)
    ]
    return [header, *rows]


def edge_rows(ids: list[str] | None, weighted: bool = False, header: bool = True) -> list[list[str]]:
    """Return the edges table as cells."""
    names = ids or [str(node) for node in range(NODES)]
    rows = [
        [names[source], names[target], *([str(weight)] if weighted else [])]
        for (source, target), weight in zip(EDGES, WEIGHTS, strict=True)
    ]
    return [["source", "target", *(["weight"] if weighted else [])]] * header + rows


def text(rows: list[list[str]], separator: str = ",") -> str:
    """Return cells as text."""
    return "".join(separator.join(row) + "\n" for row in rows)


NAMED = [f"n{node}" for node in range(NODES)]


def write_csv(folder: Path) -> Path:
    """Text with a header, ids that are text, weights."""
    (folder / "edges.csv").write_text(text(edge_rows(NAMED, weighted=True)))
    (folder / "nodes.csv").write_text(text(node_rows(NAMED)))
    return folder


def write_numbered_csv(folder: Path) -> Path:
    """Text without ids, edges without a header, labels that are numbers."""
    (folder / "edges.csv").write_text(text(edge_rows(None, header=False)))
    (folder / "nodes.csv").write_text(text(node_rows(None, ["3", "10", "2"] * 4)))
    return folder


def write_tsv_gz(folder: Path) -> Path:
    """Compressed text with tabs."""
    (folder / "edges.tsv.gz").write_bytes(gzip.compress(text(edge_rows(NAMED), "\t").encode(), mtime=0))
    (folder / "nodes.tsv.gz").write_bytes(gzip.compress(text(node_rows(NAMED), "\t").encode(), mtime=0))
    return folder


def write_parquet(folder: Path) -> Path:
    """Parquet with weights and integer ids that are not the positions."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = [100 + node for node in range(NODES)]
    source, target = ([ids[edge[end]] for edge in EDGES] for end in (0, 1))
    pq.write_table(pa.table({"src": source, "dst": target, "weight": WEIGHTS}), folder / "edges.parquet")
    columns = {f"x{column}": FEATURES[:, column] for column in range(3)}
    splits = [name or None for name in SPLIT]
    pq.write_table(pa.table({"id": ids, "label": LABELS, "split": splits, **columns}), folder / "nodes.parquet")
    return folder


def write_npy(folder: Path) -> Path:
    """Arrays, with several labels per node and drawn splits."""
    np.save(folder / "edges.npy", np.array(EDGES))
    np.save(folder / "features.npy", FEATURES)
    np.save(folder / "labels.npy", (np.arange(NODES * 3).reshape(NODES, 3) % 4 < 2).astype(np.int64))
    return folder


def write_npz(folder: Path) -> Path:
    """Sparse features, labels as text, splits as lists."""
    import scipy.sparse

    np.save(folder / "edges.npy", np.array(EDGES).T)
    scipy.sparse.save_npz(folder / "features.npz", scipy.sparse.csr_matrix(np.where(FEATURES > 0, FEATURES, 0)))
    (folder / "labels.csv").write_text("label\n" + "\n".join(LABELS) + "\n")
    np.save(folder / "train.npy", np.array(SPLITS["train"]))
    for split in ("val", "test"):
        (folder / f"{split}.txt").write_text("".join(f"{node}\n" for node in SPLITS[split]))
    return folder


def write_pyg(folder: Path) -> Path:
    """A ``Data`` of PyG with weights and masks."""
    import torch
    from torch_geometric.data import Data

    masks = {f"{split}_mask": torch.tensor([name == split for name in SPLIT]) for split in ("train", "val", "test")}
    data = Data(
        x=torch.tensor(FEATURES, dtype=torch.float32),
        edge_index=torch.tensor(EDGES).T.contiguous(),
        edge_weight=torch.tensor(WEIGHTS),
        y=torch.arange(NODES) % 3,
        **masks,
    )
    torch.save(data, folder / "graph.pt")
    return folder / "graph.pt"


LAYOUTS = [
    Layout("csv", write_csv),
    Layout("numbered csv", write_numbered_csv),
    Layout("tsv.gz", write_tsv_gz),
    Layout("parquet", write_parquet),
    Layout("npy", write_npy),
    Layout("npz", write_npz),
    Layout("pt", write_pyg),
]
