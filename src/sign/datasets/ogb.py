"""ogbn-products, ogbn-arxiv and ogbn-papers100M of the Open Graph Benchmark (Hu et al. 2020), from its raw files."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset
from sign.datasets.raw_files import REAL, WHOLE, Member, class_numbers, column, keep, reading, table
from sign.datasets.statistics import PUBLISHED, Statistics, compare, shares
from sign.errors import FieldError
from sign.graph.classification import NodeClassification
from sign.graph.csr import CSR, Array, index_type
from sign.graph.graph import Graph
from sign.system import arrays

ADDRESS = "http://snap.stanford.edu/ogb/data/nodeproppred/{}.zip"
ARCHIVES = {"products": "products", "arxiv": "arxiv", "papers100M": "papers100M-bin"}
SPLITS = {"products": "sales_ranking", "arxiv": "time", "papers100M": "time"}
TEXT = ("num-node-list.csv.gz", "edge.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")
BINARY = ("data.npz", "node-label.npz")
ARRAYS = "arrays"  # the folder beside raw/ that holds what was read, as .npy files


@dataclass(frozen=True, kw_only=True)
class OGB(Dataset):
    """Papers that cite each other, or goods bought together, with OGB's own split.

    The text files of products and arxiv and the .npz files of papers100M are read once, in blocks, to .npy files.
    ``directed`` keeps who cites whom; a paper without a label is in no split.
    """

    graph: Literal["products", "arxiv", "papers100M"]
    data_dir: str
    directed: bool = False
    check: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.directed and self.graph == "products":
            raise FieldError("directed", True, "goods bought together have no direction; use directed=false")

    def classification(self, feature_scaling: str) -> NodeClassification:
        """The classification of the graph, whose accuracy OGB's evaluator computes."""
        return replace(super().classification(feature_scaling), evaluator=f"ogbn-{self.graph}")

    def load(self) -> Graph:
        """Read the files, which are fetched if they are missing, or what was made of them before."""
        folder = Path(self.data_dir) / f"ogbn_{self.graph}"
        splits = [f"split/{SPLITS[self.graph]}/{part}.csv.gz" for part in ("train", "valid", "test")]
        raw = [f"raw/{name}" for name in (BINARY if self.graph == "papers100M" else TEXT)]
        download.ensure_unpacked(folder, [*raw, *splits], ADDRESS.format(ARCHIVES[self.graph]))
        published = PUBLISHED[f"ogbn-{self.graph}"]
        read = _binary if self.graph == "papers100M" else _text
        nodes, (source, target, features, labels) = read(folder, published.classes)
        train, val, test = (np.sort(column(folder / split)) for split in splits)
        if self.check:
            classes = 1 + max(int(labels[part].max()) for part in arrays.chunks(labels))
            split = shares(train, val, test)
            compare(self.name, published, Statistics(nodes, len(source), features.shape[1], classes, split))
        return Graph(
            name=self.name,
            adjacency=CSR.from_edges(source, target, nodes, both=not self.directed),
            features=features,
            labels=labels,
            classes=published.classes,
            train=train,
            val=val,
            test=test,
            directed=self.directed,
            inductive=self.inductive,
        )


def _text(folder: Path, classes: int) -> tuple[int, list[Array]]:
    """Nodes, sources, targets, features and labels of a data set in .csv.gz files."""
    count, edges, features, labels = (folder / "raw" / name for name in TEXT)
    nodes = _one(count, column(count))

    def ends() -> Iterator[tuple[Array, Array]]:
        for block in table(edges, np.int64):
            source, target = _nodes(block, nodes).T
            yield source, target

    def numbers() -> Iterator[tuple[Array]]:
        return ((class_numbers(block[:, 0], classes),) for block in table(labels, np.float32))

    arrays = folder / ARRAYS
    return nodes, [
        *keep(edges, arrays, ("source", "target"), ends),
        *keep(features, arrays, ("features",), lambda: ((block,) for block in table(features, np.float32))),
        *keep(labels, arrays, ("labels",), numbers),
    ]


def _binary(folder: Path, classes: int) -> tuple[int, list[Array]]:
    """Nodes, sources, targets, features and labels of a data set in .npz files."""
    data, labels = (folder / "raw" / name for name in BINARY)
    nodes = _one(data, Member.find(data, "num_nodes_list", WHOLE, 1).read())
    edges = Member.find(data, "edge_index", WHOLE, 2)
    features = Member.find(data, "node_feat", REAL, 2)
    label = Member.find(labels, "node_label", REAL + WHOLE, 2)
    with reading(data):
        if edges.shape[0] != 2 or features.fortran:
            raise ValueError(f"edge_index of shape {edges.shape}, or node_feat column by column")

    def ends() -> Iterator[tuple[Array, Array]]:
        done = 0
        for raw in edges.blocks(row=2 if edges.fortran else 1):
            block = _nodes(raw, nodes)
            cut = min(max(edges.shape[1] - done, 0), len(block))
            yield (block[::2], block[1::2]) if edges.fortran else (block[:cut], block[cut:])
            done += len(block)

    def rows() -> Iterator[tuple[Array]]:
        width = features.shape[1]
        return ((block.reshape(-1, width).astype(np.float32),) for block in features.blocks(width))

    def numbers() -> Iterator[tuple[Array]]:
        return ((class_numbers(block, classes),) for block in label.blocks())

    arrays = folder / ARRAYS
    return nodes, [
        *keep(data, arrays, ("source", "target"), ends),
        *keep(data, arrays, ("features",), rows),
        *keep(labels, arrays, ("labels",), numbers),
    ]


def _one(file: Path, sizes: Array) -> int:
    """The size of the one graph."""
    with reading(file):
        if len(sizes) != 1 or sizes[0] < 1:
            raise ValueError(f"sizes of graphs {sizes[:3].tolist()}; there should be one graph")
    return int(sizes[0])


def _nodes(ends: Array, nodes: int) -> Array:
    """The ends of edges in as few bytes as do."""
    if len(ends) and (ends.min() < 0 or ends.max() >= nodes):
        wrong = ends.min() if ends.min() < 0 else ends.max()
        raise ValueError(f"an edge refers to node {wrong}, but nodes are numbered 0 to {nodes - 1}")
    return ends.astype(index_type(nodes))
