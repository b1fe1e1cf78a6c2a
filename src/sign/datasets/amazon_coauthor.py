"""Amazon and Coauthor graphs (Shchur et al. 2018), read from the files of PyG's layout."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset
from sign.datasets.raw_files import read_errors
from sign.datasets.sampling import split_per_class
from sign.datasets.statistics import PUBLISHED, Statistics, check_statistics
from sign.graph.csr import CSR, Array
from sign.graph.features import SparseFeatures
from sign.graph.graph import Graph
from sign.graph.partition import is_indptr
from sign.validation import Count, Seed

FILES = {
    "computers": "Amazon/Computers/raw/amazon_electronics_computers.npz",
    "photo": "Amazon/Photo/raw/amazon_electronics_photo.npz",
    "cs": "Coauthor/CS/raw/ms_academic_cs.npz",
    "physics": "Coauthor/Physics/raw/ms_academic_phy.npz",
}
ADDRESS = "https://github.com/shchur/gnn-benchmark/raw/master/data/npz"


@dataclass(frozen=True, kw_only=True)
class AmazonCoauthor(Dataset):
    """An undirected graph without self-loops and with binary words as features; the split is drawn."""

    name: str
    graph: Literal["computers", "photo", "cs", "physics"]
    data_dir: str
    split_seed: Seed = 0
    train_per_class: Count = 20
    val_per_class: Count = 30
    check: bool = True

    def load(self) -> Graph:
        """Read the file, downloading it if it is missing, and draw the split."""
        file = Path(self.data_dir) / FILES[self.graph]
        download.ensure_files(file.parent, {file.name: f"{ADDRESS}/{file.name}"})
        with read_errors(file), file.open("rb") as stream, np.load(stream, allow_pickle=False) as raw:
            names = ("adj_indptr", "adj_indices", "attr_indptr", "attr_indices", "labels", "attr_shape")
            contents = {name: raw[name] for name in names}
            _check_arrays(contents)
            indptr, indices, word_indptr, words, labels, shape = contents.values()
            nodes = len(labels)
            _check_rows("adj", indptr, indices, nodes, nodes)
            _check_rows("attr", word_indptr, words, nodes, int(shape[1]))
        source = np.repeat(np.arange(nodes), np.diff(indptr))
        loops = source == indices
        source, target = source[~loops], indices[~loops].astype(np.int64)
        features = SparseFeatures(word_indptr.astype(np.int64), words, int(shape[1]))
        labels, classes = labels.astype(np.int64), int(labels.max()) + 1
        adjacency = CSR.from_edges(source, target, nodes, both=True)
        splits = split_per_class(labels, classes, self.train_per_class, self.val_per_class, self.split_seed)
        graph = Graph(self.name, adjacency, features, labels, classes, *splits, inductive=self.inductive)
        if self.check:
            actual = Statistics(nodes, graph.edges, features.shape[1], classes)
            check_statistics(self.name, PUBLISHED[self.graph], actual)
        return graph


def _check_arrays(arrays: dict[str, Array]) -> None:
    for name, array in arrays.items():
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}")
    if len(arrays["attr_shape"]) != 2:
        raise ValueError(f"attr_shape is {arrays['attr_shape'].tolist()}")
    labels = arrays["labels"]
    if not len(labels) or labels.min() < 0 or labels.max() >= len(labels):
        raise ValueError("labels are not class indices")


def _check_rows(name: str, indptr: Array, indices: Array, rows: int, columns: int) -> None:
    """Raise :class:`ValueError` unless the arrays are a CSR matrix of this shape."""
    if len(indptr) != rows + 1 or not is_indptr(indptr, len(indices)):
        raise ValueError(f"{name}_indptr does not divide {len(indices)} entries into {rows} rows")
    if len(indices) and (indices.min() < 0 or indices.max() >= columns):
        raise ValueError(f"{name}_indices are not in 0 to {columns - 1}")
