"""Flickr, Reddit, Yelp and PPI from the files of GraphSAINT (Zeng et al. 2020), in PyG's folders."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset
from sign.datasets.raw_files import BLOCK, NpzArray, read_errors
from sign.datasets.statistics import PUBLISHED, Statistics, check_statistics, split_fractions
from sign.graph.csr import CSR, Array, Floats, index_type
from sign.graph.graph import Graph
from sign.graph.partition import is_indptr
from sign.system import arrays

FOLDERS = {"flickr": "Flickr/raw", "reddit": "Reddit2/raw", "yelp": "Yelp/raw", "ppi": "PPI/raw"}
FILES = ("adj_full.npz", "feats.npy", "class_map.json", "role.json")
ADDRESS = "https://drive.usercontent.google.com/download?id={}&confirm=t"
IDS = {  # of the four files on Google Drive, as in PyG; those of PPI are not available separately
    "flickr": (
        "1crmsTbd1-2sEXsGwa2IKnIB7Zd3TmUsy",
        "1join-XdvX3anJU_MLVtick7MgeAQiWIZ",
        "1uxIkbtg5drHTsKt-PAsZZ4_yJmgFmle9",
        "1htXCtuktuCW8TR8KiKfrFDAxUgekQoV7",
    ),
    "reddit": (
        "1sncK996BM5lpuDf75lDFqCiDZyErc1c2",
        "1ZsHaJ0ussP1W722krmEIp_8pwKAoi5b3",
        "1JF3Pjv9OboMNYs2aXRQGbJbc4t_nDd5u",
        "1nJIKd77lcAGU4j-kVNx_AIGEkveIKz3A",
    ),
    "yelp": (
        "1Juwx8HtDwSzmVIJ31ooVa1WljI4U5JnA",
        "1Zy6BZH_zLEjKlEFSduKE5tV9qqA_8VtM",
        "1VUcBGr0T0-klqerjAjxRmAqFuld_SMWU",
        "1NI5pa5Chpd-52eSmLW60OnB3WS5ikxq_",
    ),
}
MANUAL_ADDRESS = "https://drive.google.com/drive/folders/1zycmmDES39zVlbVCYs88JTJ1Wm5FbfLz"
# A node and its label or labels in class_map.json
LABEL = re.compile(r'\s*"(\d+)"\s*:\s*(\[[^\]]*\]|-?\d+)\s*([,}])')


@dataclass(frozen=True, kw_only=True)
class GraphSAINT(Dataset):
    """An undirected graph with self-loops and a fixed split; multilabel (Yelp, PPI) or not (Flickr, Reddit)."""

    graph: Literal["flickr", "reddit", "yelp", "ppi"]
    data_dir: str
    inductive: bool = True
    check: bool = True

    def load(self) -> Graph:
        """Read the four files, downloading them if they are missing."""
        folder = Path(self.data_dir) / FOLDERS[self.graph]
        if self.graph in IDS:
            addresses = (ADDRESS.format(id_) for id_ in IDS[self.graph])
            download.ensure_files(folder, dict(zip(FILES, addresses, strict=True)))
        download.require_files(folder, FILES, MANUAL_ADDRESS)
        adj_full, feats, class_map, roles = (folder / name for name in FILES)
        published = PUBLISHED[self.graph]
        with read_errors(adj_full):
            indptr, indices = _read_adjacency(adj_full)
        nodes = len(indptr) - 1
        labels = _read_labels(class_map, nodes, published)
        with read_errors(roles):
            role = json.loads(roles.read_text())
            train, val, test = (np.sort(np.array(role[part], np.int64)) for part in ("tr", "va", "te"))
        source = np.repeat(np.arange(nodes, dtype=index_type(nodes)), np.diff(indptr))
        features = _read_features(feats)
        if self.check:
            loops = int((source == indices).sum())
            edges = _count_edges(len(indices), loops, published.edges)
            classes = labels.shape[1] if published.multilabel else int(labels.max()) + 1
            actual = Statistics(nodes, edges, features.shape[1], classes, split_fractions(train, val, test))
            check_statistics(self.name, published, actual)
        adjacency = CSR.from_edges(source, indices, nodes, both=True)
        classes = published.classes
        return Graph(self.name, adjacency, features, labels, classes, train, val, test, inductive=self.inductive)


def _read_adjacency(file: Path) -> tuple[Array, Array]:
    """Read ``indptr`` and ``indices`` of the adjacency."""
    indptr, indices, shape = (NpzArray.open(file, name, "iu", 1).read() for name in ("indptr", "indices", "shape"))
    if shape.tolist() != [len(indptr) - 1] * 2:
        raise ValueError(f"{len(indptr) - 1} rows for a matrix of shape {shape.tolist()}")
    if not is_indptr(indptr, len(indices)):
        raise ValueError(f"indptr does not divide {len(indices)} entries into rows")
    return indptr.astype(np.int64), indices


def _count_edges(entries: int, loops: int, published: int) -> int:
    """Count edges by the convention of the published number, if any convention gives it.

    Flickr's is the number of entries; Reddit's, Yelp's and PPI's count the two entries of an edge once.
    """
    conventions = (entries, (entries + 1) // 2, (entries + loops) // 2, (entries - loops) // 2)
    return published if published in conventions else entries


def _read_features(file: Path) -> Floats:
    with read_errors(file):
        raw = np.load(file, mmap_mode="r", allow_pickle=False)
        if raw.ndim != 2 or raw.dtype.kind not in "fiub":
            raise ValueError(f"it contains {raw.dtype} of shape {raw.shape}")
    return arrays.copy_rows(raw, dtype=np.float32)


def _read_labels(file: Path, nodes: int, published: Statistics) -> Array:
    labels = np.full(nodes, -1, np.int16)
    if published.multilabel:
        labels = np.zeros((nodes, published.classes), np.uint8)
    width = published.classes if published.multilabel else 0
    with read_errors(file):
        for node, label in _label_entries(file):
            if node >= nodes or (len(label) if isinstance(label, list) else 0) != width:
                raise ValueError(f"{str(label)[:40]} for node {node} of {nodes}")
            labels[node] = label
    return labels


def _label_entries(file: Path) -> Iterator[tuple[int, Any]]:
    """Parse the items of a JSON object block by block: Yelp's 72 million labels would take 1 GB as Python lists."""
    with file.open() as stream:
        text, position, last = stream.read(BLOCK), 1, ""
        if not text.startswith("{"):
            raise ValueError("it is not a JSON object")
        while True:
            while match := LABEL.match(text, position):
                yield int(match[1]), json.loads(match[2])
                position, last = match.end(), match[3]
            more = stream.read(BLOCK)
            if not more:
                break
            text, position = text[position:] + more, 0
        if last != "}" or text[position:].strip():
            raise ValueError(f"it is truncated or malformed at {text[position : position + 20]!r}")
