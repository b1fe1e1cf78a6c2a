"""Flickr, Reddit, Yelp and PPI as GraphSAINT (Zeng et al. 2020) hands them out, in PyG's folders."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset
from sign.datasets.raw_files import BLOCK, WHOLE, Member, reading
from sign.datasets.statistics import PUBLISHED, Statistics, compare, shares
from sign.graph.csr import CSR, Array, Floats, index_type
from sign.graph.graph import Graph
from sign.system import arrays

FOLDERS = {"flickr": "Flickr/raw", "reddit": "Reddit2/raw", "yelp": "Yelp/raw", "ppi": "PPI/raw"}
FILES = ("adj_full.npz", "feats.npy", "class_map.json", "role.json")
ADDRESS = "https://drive.usercontent.google.com/download?id={}&confirm=t"
IDS = {  # of the four files, as PyG has them; nobody hands out PPI's one by one
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
BY_HAND = "https://drive.google.com/drive/folders/1zycmmDES39zVlbVCYs88JTJ1Wm5FbfLz"
LABEL = re.compile(
    r'\s*"(\d+)"\s*:\s*(\[[^\]]*\]|-?\d+)\s*([,}])'
)  # a node and what it is, in class_map.json


@dataclass(frozen=True, kw_only=True)
class GraphSAINT(Dataset):
    """Undirected, self-loops kept, with a fixed split; one label a node (Flickr, Reddit) or many (Yelp, PPI)."""

    graph: Literal["flickr", "reddit", "yelp", "ppi"]
    data_dir: str
    inductive: bool = True
    check: bool = True

    def load(self) -> Graph:
        """Read the four files, which are fetched if they are missing."""
        folder = Path(self.data_dir) / FOLDERS[self.graph]
        if self.graph in IDS:
            addresses = (ADDRESS.format(id_) for id_ in IDS[self.graph])
            download.ensure_files(folder, dict(zip(FILES, addresses, strict=True)))
        download.ensure_given(folder, FILES, BY_HAND)
        adjacency, features, classes, roles = (folder / name for name in FILES)
        published = PUBLISHED[self.graph]
        with reading(adjacency):
            indptr, indices = _rows(adjacency)
        nodes = len(indptr) - 1
        labels = _labels(classes, nodes, published)
        with reading(roles):
            role = json.loads(roles.read_text())
            train, val, test = (np.sort(np.array(role[part], np.int64)) for part in ("tr", "va", "te"))
        source = np.repeat(np.arange(nodes, dtype=index_type(nodes)), np.diff(indptr))
        found = _features(features)
        if self.check:
            loops = int((source == indices).sum())
            edges = _edges(len(indices), loops, published.edges)
            count = labels.shape[1] if published.multilabel else int(labels.max()) + 1
            sizes = Statistics(nodes, edges, found.shape[1], count, shares(train, val, test))
            compare(self.name, published, sizes)
        return Graph(
            name=self.name,
            adjacency=CSR.from_edges(source, indices, nodes, both=True),
            features=found,
            labels=labels,
            classes=published.classes,
            train=train,
            val=val,
            test=test,
            inductive=self.inductive,
        )


def _rows(file: Path) -> tuple[Array, Array]:
    """Where the rows of the adjacency start, and the columns of their entries."""
    indptr = Member.find(file, "indptr", WHOLE, 1).read().astype(np.int64)
    indices = Member.find(file, "indices", WHOLE, 1).read()
    shape = Member.find(file, "shape", WHOLE, 1).read().tolist()
    if shape != [len(indptr) - 1] * 2:
        raise ValueError(f"{len(indptr) - 1} rows for a matrix of shape {shape}")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise ValueError(f"its rows do not divide its {len(indices)} entries")
    return indptr, indices


def _edges(entries: int, loops: int, published: int) -> int:
    """The edges, counted as the published number counts them if any way of counting gives it.

    Flickr's counts entries; Reddit's, Yelp's and PPI's count the two entries of an edge as one.
    """
    ways = (entries, (entries + 1) // 2, (entries + loops) // 2, (entries - loops) // 2)
    return published if published in ways else entries


def _features(file: Path) -> Floats:
    with reading(file):
        raw = np.load(file, mmap_mode="r", allow_pickle=False)
        if raw.ndim != 2 or raw.dtype.kind not in "fiub":
            raise ValueError(f"it holds {raw.dtype} of shape {raw.shape}")
    features = arrays.empty(raw.shape, np.float32)
    for part in arrays.chunks(raw):
        features[part] = raw[part]
        arrays.release(features[part])
    return features


def _labels(file: Path, nodes: int, published: Statistics) -> Array:
    several = published.multilabel
    labels = np.zeros((nodes, published.classes), np.uint8) if several else np.full(nodes, -1, np.int16)
    with reading(file):
        for node, label in _entries(file):
            if node >= nodes or (len(label) if isinstance(label, list) else 0) != several * published.classes:
                raise ValueError(f"{str(label)[:40]} for node {node} of {nodes}")
            labels[node] = label
    return labels


def _entries(file: Path) -> Iterator[tuple[int, Any]]:
    """The pairs of a JSON object, block by block: Yelp's 72 million labels would take a gigabyte as Python lists."""
    with file.open() as stream:
        text, at, last = stream.read(BLOCK), 1, ""
        if not text.startswith("{"):
            raise ValueError("it is not a JSON object")
        while True:
            while found := LABEL.match(text, at):
                yield int(found[1]), json.loads(found[2])
                at, last = found.end(), found[3]
            more = stream.read(BLOCK)
            if not more:
                break
            text, at = text[at:] + more, 0
        if last != "}" or text[at:].strip():
            raise ValueError(f"it breaks off, or holds something else, at {text[at : at + 20]!r}")
