"""Citation graphs with the public split (Yang et al. 2016) or the full one, from the files of PyG's Planetoid."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset
from sign.datasets.raw_files import read_errors
from sign.datasets.statistics import PUBLISHED, Statistics, check_statistics
from sign.graph.csr import CSR
from sign.graph.features import SparseFeatures
from sign.graph.graph import Graph
from sign.graph.partition import row_pointers

ADDRESS = "https://github.com/kimiyoung/planetoid/raw/master/data"
FOLDERS = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION = 500  # nodes after the training nodes
# the classes that these pickles refer to; any other one is refused
ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("collections", "defaultdict"),
    ("__builtin__", "list"),
    ("_codecs", "encode"),
}


class SafeUnpickler(pickle.Unpickler):
    """Loads arrays, lists and sparse matrices, and no other objects: a pickle could run any code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return an allowed class; raise :class:`pickle.UnpicklingError` for any other one."""
        if (module, name) == ("scipy.sparse.csr", "csr_matrix"):
            return SimpleNamespace  # of the attributes of the matrix
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it refers to {module}.{name}")
        return super().find_class(module, name)


@dataclass(frozen=True, kw_only=True)
class Planetoid(Dataset):
    """Cora, CiteSeer or PubMed: 20 training nodes per class, 500 validation nodes, 1,000 test nodes.

    In the full split, all other nodes with a label are training nodes, too.
    """

    graph: Literal["cora", "citeseer", "pubmed"]
    data_dir: str
    split: Literal["public", "full"] = "public"
    check: bool = True

    def load(self) -> Graph:
        """Read ``Planetoid/<name>/raw/ind.<name>.*``, downloading missing files."""
        folder = Path(self.data_dir) / "Planetoid" / FOLDERS[self.graph] / "raw"
        names = {part: f"ind.{self.graph}.{part}" for part in PARTS}
        download.ensure_files(folder, {name: f"{ADDRESS}/{name}" for name in names.values()})
        parts = {part: self._read(folder / name, part) for part, name in names.items()}
        with read_errors(folder, "files of one graph", "download them again"):
            graph = self._graph(parts)
        if self.check:
            actual = Statistics(graph.nodes, graph.edges, graph.features.shape[1], graph.classes)
            check_statistics(self.name, PUBLISHED[f"planetoid-{self.graph}"], actual)
        return graph

    def _read(self, file: Path, part: str) -> Any:
        with read_errors(file), file.open("rb") as stream:
            if part == "test.index":
                return np.loadtxt(stream, np.int64)
            return SafeUnpickler(stream, encoding="latin1").load()

    def _graph(self, parts: dict[str, Any]) -> Graph:
        test = np.sort(parts["test.index"])
        labelled = len(parts["ally"])
        nodes = int(test.max()) + 1  # CiteSeer has test nodes without a row: no words, no label, in no split
        labels = np.full(nodes, -1, np.int64)
        labels[:labelled] = parts["ally"].argmax(axis=1)
        labels[parts["test.index"]] = parts["ty"].argmax(axis=1)
        first, later = (_sparse(parts["allx"]), _sparse(parts["tx"]))  # test nodes are in the order of test.index
        lengths = np.zeros(nodes, np.int64)
        lengths[:labelled], lengths[parts["test.index"]] = np.diff(first.indptr), np.diff(later.indptr)
        ordered = later.select_rows(np.argsort(parts["test.index"]))
        features = SparseFeatures(
            row_pointers(lengths),
            np.concatenate([first.indices, ordered.indices]),
            first.columns,
            np.concatenate([first.values, ordered.values]),
        )
        train, val = np.split(np.arange(len(parts["y"]) + VALIDATION), [len(parts["y"])])
        if self.split == "full":
            train = np.concatenate([train, np.arange(val[-1] + 1, labelled)])
        adjacency, classes = _adjacency(parts["graph"], nodes), parts["ally"].shape[1]
        return Graph(self.name, adjacency, features, labels, classes, train, val, test, inductive=self.inductive)


def _sparse(matrix: SimpleNamespace) -> SparseFeatures:
    values = matrix.data.astype(np.float32)
    return SparseFeatures(matrix.indptr.astype(np.int64), matrix.indices, matrix._shape[1], values)


def _adjacency(neighbours: dict[int, list[int]], nodes: int) -> CSR:
    """Undirected citations without self-loops."""
    lengths = [len(targets) for targets in neighbours.values()]
    source = np.repeat(np.fromiter(neighbours, np.int64, len(neighbours)), lengths)
    target = np.concatenate([np.asarray(targets, np.int64) for targets in neighbours.values()])
    proper = source != target
    return CSR.from_edges(source[proper], target[proper], nodes, both=True)
