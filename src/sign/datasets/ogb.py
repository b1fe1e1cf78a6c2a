"""ogbn-products, ogbn-arxiv and ogbn-papers100M of the Open Graph Benchmark (Hu et al. 2020), from its raw files."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from sign.datasets import download
from sign.datasets.array_cache import cached_arrays
from sign.datasets.base import Dataset
from sign.datasets.raw_files import NpzArray, class_indices, csv_blocks, read_csv_column, read_errors
from sign.datasets.statistics import PUBLISHED, Statistics, check_statistics, split_fractions
from sign.errors import FieldError
from sign.graph.classification import NodeClassification
from sign.graph.csr import CSR, Array, index_type
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.system import arrays

ADDRESS = "http://snap.stanford.edu/ogb/data/nodeproppred/{}.zip"
ARCHIVES = {"products": "products", "arxiv": "arxiv", "papers100M": "papers100M-bin"}
SPLITS = {"products": "sales_ranking", "arxiv": "time", "papers100M": "time"}
TEXT = ("num-node-list.csv.gz", "edge.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")
BINARY = ("data.npz", "node-label.npz")
ARRAYS = "arrays"  # the folder of .npy files, beside raw/


@dataclass(frozen=True, kw_only=True)
class OGB(Dataset):
    """A citation or co-purchase graph with the split of OGB.

    The text files of products and arxiv and the .npz files of papers100M are converted once, in blocks, to .npy
    files. ``directed`` keeps the direction of citations; a paper without a label is in no split.
    """

    graph: Literal["products", "arxiv", "papers100M"]
    data_dir: str
    directed: bool = False
    check: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.directed and self.graph == "products":
            raise FieldError("directed", True, "a co-purchase graph has no direction; use directed=false")

    def classification(self, feature_scaling: str | FeatureScaling) -> NodeClassification:
        """The classification of the graph, whose accuracy OGB's evaluator computes."""
        return replace(super().classification(feature_scaling), evaluator=f"ogbn-{self.graph}")

    def load(self) -> Graph:
        """Read the files, downloading and converting them if necessary."""
        folder = Path(self.data_dir) / f"ogbn_{self.graph}"
        names = [f"split/{SPLITS[self.graph]}/{part}.csv.gz" for part in ("train", "valid", "test")]
        raw = [f"raw/{name}" for name in (BINARY if self.graph == "papers100M" else TEXT)]
        download.ensure_extracted(folder, [*raw, *names], ADDRESS.format(ARCHIVES[self.graph]))
        published = PUBLISHED[f"ogbn-{self.graph}"]
        read = _read_binary if self.graph == "papers100M" else _read_text
        nodes, (source, target, features, labels) = read(folder, published.classes)
        train, val, test = (np.sort(read_csv_column(folder / name)) for name in names)
        if self.check:
            classes = 1 + max(int(labels[part].max()) for part in arrays.chunks(labels))
            actual = Statistics(nodes, len(source), features.shape[1], classes, split_fractions(train, val, test))
            check_statistics(self.name, published, actual)
        adjacency = CSR.from_edges(source, target, nodes, both=not self.directed)
        splits, classes = (train, val, test), published.classes
        return Graph(self.name, adjacency, features, labels, classes, *splits, self.directed, self.inductive)


def _read_text(folder: Path, classes: int) -> tuple[int, list[Array]]:
    """Read the number of nodes, sources, targets, features and labels from .csv.gz files."""
    count, edges, features, labels = (folder / "raw" / name for name in TEXT)
    nodes = _single_size(count, read_csv_column(count))
    edge_blocks = (_node_indices(block, nodes).T for block in csv_blocks(edges, np.int64))
    feature_blocks = ((block,) for block in csv_blocks(features, np.float32))
    label_blocks = ((class_indices(block[:, 0], classes),) for block in csv_blocks(labels, np.float32))
    cache = folder / ARRAYS
    return nodes, [
        *cached_arrays(edges, cache, ("source", "target"), edge_blocks),
        *cached_arrays(features, cache, ("features",), feature_blocks),
        *cached_arrays(labels, cache, ("labels",), label_blocks),
    ]


def _read_binary(folder: Path, classes: int) -> tuple[int, list[Array]]:
    """Read the number of nodes, sources, targets, features and labels from .npz files."""
    data, labels = (folder / "raw" / name for name in BINARY)
    nodes = _single_size(data, NpzArray.open(data, "num_nodes_list", "iu", 1).read())
    edges = NpzArray.open(data, "edge_index", "iu", 2)
    features = NpzArray.open(data, "node_feat", "f", 2)
    label = NpzArray.open(labels, "node_label", "fiu", 2)
    with read_errors(data):
        if edges.shape[0] != 2 or features.fortran:
            raise ValueError(f"edge_index has shape {edges.shape}, or node_feat is in Fortran order")

    def edge_blocks() -> Iterator[tuple[Array, Array]]:
        position = 0
        for raw in edges.blocks(row=2 if edges.fortran else 1):
            block = _node_indices(raw, nodes)
            sources = min(max(edges.shape[1] - position, 0), len(block))
            yield (block[::2], block[1::2]) if edges.fortran else (block[:sources], block[sources:])
            position += len(block)

    width, cache = features.shape[1], folder / ARRAYS
    feature_blocks = ((block.reshape(-1, width).astype(np.float32),) for block in features.blocks(width))
    label_blocks = ((class_indices(block, classes),) for block in label.blocks())
    return nodes, [
        *cached_arrays(data, cache, ("source", "target"), edge_blocks()),
        *cached_arrays(data, cache, ("features",), feature_blocks),
        *cached_arrays(labels, cache, ("labels",), label_blocks),
    ]


def _single_size(file: Path, sizes: Array) -> int:
    """Return the size of the only graph."""
    with read_errors(file):
        if len(sizes) != 1 or sizes[0] < 1:
            raise ValueError(f"it has graphs of {sizes[:3].tolist()} nodes instead of one graph")
    return int(sizes[0])


def _node_indices(ends: Array, nodes: int) -> Array:
    """Convert the ends of edges to the smallest index type; raise :class:`ValueError` if one is no node."""
    if len(ends) and (ends.min() < 0 or ends.max() >= nodes):
        node = ends.min() if ends.min() < 0 else ends.max()
        raise ValueError(f"an edge refers to node {node}, but nodes are numbered 0 to {nodes - 1}")
    return ends.astype(index_type(nodes))
