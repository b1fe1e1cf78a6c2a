"""Citation graphs with the public split (Yang et al. 2016), from the files that PyG's Planetoid reads."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset
from sign.datasets.statistics import PUBLISHED, Statistics, compare
from sign.errors import SignError
from sign.graph.csr import CSR, Array
from sign.graph.features import SparseFeatures
from sign.graph.graph import Graph
from sign.graph.partition import row_pointers

ADDRESS = "https://github.com/kimiyoung/planetoid/raw/master/data"
FOLDERS = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
VALIDATION = 500  # nodes after the training ones
# all that these files name; anything else in them is refused
ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("collections", "defaultdict"),
    ("__builtin__", "list"),
    ("_codecs", "encode"),
}


class Rows:
    """Stands for scipy's csr_matrix while a file is read: a plain holder of its parts."""

    indptr: Array
    indices: Array
    data: Array
    _shape: tuple[int, int]


class SafeUnpickler(pickle.Unpickler):
    """Reads the files, which are pickles, without running anything that they might hold."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, encoding="latin1")

    def find_class(self, module: str, name: str) -> Any:
        """Arrays, lists and sparse rows; nothing else."""
        if (module, name) == ("scipy.sparse.csr", "csr_matrix"):
            return Rows
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}")
        return super().find_class(module, name)


@dataclass(frozen=True, kw_only=True)
class Planetoid(Dataset):
    """Cora, CiteSeer or PubMed: 20 training nodes a class, 500 for validation, 1,000 for testing."""

    graph: Literal["cora", "citeseer", "pubmed"]
    data_dir: str
    check: bool = True

    def load(self) -> Graph:
        """Read the files in PyG's layout, ``Planetoid/<name>/raw/ind.<name>.*``."""
        folder = Path(self.data_dir) / "Planetoid" / FOLDERS[self.graph] / "raw"
        names = {part: f"ind.{self.graph}.{part}" for part in PARTS}
        download.ensure_files(folder, {name: f"{ADDRESS}/{name}" for name in names.values()})
        parts = {part: self._read(folder / name, part) for part, name in names.items()}
        try:
            graph = self._graph(parts)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise SignError(
                f"{folder}: the files do not belong together ({error}); fetch them again"
            ) from error
        if self.check:
            edges = graph.adjacency.entries // 2
            found = Statistics(graph.nodes, edges, graph.features.shape[1], graph.classes)
            compare(self.name, PUBLISHED[f"planetoid-{self.graph}"], found)
        return graph

    def _read(self, file: Path, part: str) -> Any:
        try:
            if part == "test.index":
                return np.loadtxt(file, np.int64)
            with file.open("rb") as stream:
                return SafeUnpickler(stream).load()
        except Exception as error:  # a damaged pickle can fail in any way
            raise SignError(f"{file}: cannot be read ({error}); fetch it again") from error

    def _graph(self, parts: dict[str, Any]) -> Graph:
        test = np.sort(parts["test.index"])
        known = len(parts["ally"])
        nodes = int(test.max()) + 1  # CiteSeer has test nodes without a row: no words, no label, in no split
        labels = np.full(nodes, -1, np.int64)
        labels[:known] = parts["ally"].argmax(axis=1)
        labels[parts["test.index"]] = parts["ty"].argmax(axis=1)
        first, later = _sparse(parts["allx"]), _sparse(parts["tx"])
        lengths = np.zeros(nodes, np.int64)
        lengths[:known], lengths[parts["test.index"]] = np.diff(first.indptr), np.diff(later.indptr)
        ordered = later.select_rows(np.argsort(parts["test.index"]))
        features = SparseFeatures(
            row_pointers(lengths),
            np.concatenate([first.indices, ordered.indices]),
            first.columns,
            np.concatenate([_values(first), _values(ordered)]),
        )
        train = len(parts["y"])
        return Graph(
            name=self.name,
            adjacency=_adjacency(parts["graph"], nodes),
            features=features,
            labels=labels,
            classes=parts["ally"].shape[1],
            train=np.arange(train),
            val=np.arange(train, train + VALIDATION),
            test=test,
            inductive=self.inductive,
        )


def _sparse(rows: Rows) -> SparseFeatures:
    return SparseFeatures(
        rows.indptr.astype(np.int64), rows.indices, rows._shape[1], rows.data.astype(np.float32)
    )


def _values(features: SparseFeatures) -> Array:
    return np.ones(len(features.indices), np.float32) if features.values is None else features.values


def _adjacency(neighbours: dict[int, list[int]], nodes: int) -> CSR:
    """Each citation once, without the few papers that cite themselves."""
    lengths = [len(targets) for targets in neighbours.values()]
    source = np.repeat(np.fromiter(neighbours, np.int64, len(neighbours)), lengths)
    target = np.concatenate([np.asarray(targets, np.int64) for targets in neighbours.values()])
    other = source != target
    return CSR.from_edges(source[other], target[other], nodes, both=True)
