"""Links between articles of the English Wikipedia, from KONECT: the paper's graph for timings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.datasets import download
from sign.datasets.base import Dataset, split_by_fraction
from sign.datasets.raw_files import BLOCK, keep, whole_numbers
from sign.datasets.statistics import PUBLISHED, Statistics, compare, shares
from sign.graph.csr import CSR, Array, Floats
from sign.graph.graph import Graph
from sign.system import arrays
from sign.validation import Count, Seed

FOLDER, FILE = "wikipedia_link_en", "out.wikipedia_link_en"
ADDRESS = "http://konect.cc/files/download.tsv.wikipedia_link_en.tar.bz2"
ARRAYS = "arrays"  # the folder that holds the edges that were read, as .npy files
CLASSES = 2
ROWS = 1 << 16  # features that are drawn at a time; part of what a seed gives


@dataclass(frozen=True, kw_only=True)
class Wikipedia(Dataset):
    """Made undirected, with normal features and binary labels drawn by ``seed``: there is nothing to learn.

    Half of the nodes are for training, a quarter each for validation and testing. KONECT has replaced the file that
    the paper used by a newer one of 13,593,032 nodes and 437,217,424 links, which ``check=false`` takes.
    """

    name: str = "wikipedia"
    data_dir: str
    features: Count = 100
    seed: Seed = 0
    check: bool = True

    def load(self) -> Graph:
        """Read the file, which is fetched if it is missing, or what was made of it before."""
        folder = Path(self.data_dir) / FOLDER
        download.ensure_unpacked(folder, [FILE], ADDRESS)
        source, target = keep(
            folder / FILE, folder / ARRAYS, ("source", "target"), lambda: _links(folder / FILE)
        )
        nodes = 1 + max(int(ends[part].max()) for ends in (source, target) for part in arrays.chunks(ends))
        train, val, test = split_by_fraction(nodes, 0.5, 0.25, self.seed)
        if self.check:
            split = shares(train, val, test)
            compare(
                self.name,
                PUBLISHED["wikipedia"],
                Statistics(nodes, len(source), self.features, CLASSES, split),
            )
        return Graph(
            name=self.name,
            adjacency=CSR.from_edges(source, target, nodes, both=True),
            features=self._features(nodes),
            labels=np.random.default_rng([self.seed, 1]).integers(0, CLASSES, nodes, np.int8),
            classes=CLASSES,
            train=train,
            val=val,
            test=test,
            inductive=self.inductive,
        )

    def _features(self, nodes: int) -> Floats:
        features = arrays.empty((nodes, self.features), np.float32)
        for start in range(0, nodes, ROWS):
            part = features[start : start + ROWS]
            np.random.default_rng([self.seed, 2, start]).standard_normal(dtype=np.float32, out=part)
            arrays.release(part)
        return features


def _links(file: Path) -> Iterator[tuple[Array, Array]]:
    """Blocks of sources and targets; nodes are numbered from one in the file."""
    with file.open("rb") as stream:
        line = stream.readline()
        while line.startswith(b"%"):
            line = stream.readline()
        columns, rest = len(line.split()), line
        while text := stream.read(BLOCK):
            whole, _, rest = (rest + text).rpartition(b"\n")
            if whole:
                yield _numbers(whole, columns)
        if rest.strip():
            yield _numbers(rest, columns)


def _numbers(text: bytes, columns: int) -> tuple[Array, Array]:
    found = whole_numbers(text)
    if columns < 2 or len(found) != columns * (text.strip().count(b"\n") + 1):
        raise ValueError(f"a line has not the {columns} columns of the first")
    ends = found.reshape(-1, columns)[:, :2] - 1
    if ends.min() < 0 or ends.max() >= 2**31:
        raise ValueError(f"an edge refers to node {ends.min() + 1} or {ends.max() + 1}; nodes begin with 1")
    source, target = ends.astype(np.int32).T
    return source, target
