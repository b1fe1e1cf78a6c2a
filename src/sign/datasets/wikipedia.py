"""Links between articles of the English Wikipedia, from KONECT: the graph of the paper's timings."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.datasets import download
from sign.datasets.array_cache import cached_arrays
from sign.datasets.base import Dataset
from sign.datasets.raw_files import BLOCK, parse_integers
from sign.datasets.sampling import normal_features, split_by_fraction
from sign.datasets.statistics import PUBLISHED, Statistics, check_statistics, split_fractions
from sign.graph.csr import CSR, Array
from sign.graph.graph import Graph
from sign.system import arrays
from sign.validation import Count, Seed

FOLDER, FILE = "wikipedia_link_en", "out.wikipedia_link_en"
ADDRESS = "http://konect.cc/files/download.tsv.wikipedia_link_en.tar.bz2"
ARRAYS = "arrays"  # the folder of .npy files
CLASSES = 2


@dataclass(frozen=True, kw_only=True)
class Wikipedia(Dataset):
    """An undirected graph with random normal features and binary labels: there is nothing to learn.

    Half of the nodes are training nodes, a quarter each validation and test nodes. KONECT has replaced the file of
    the paper by a newer one of 13,593,032 nodes and 437,217,424 links, which ``check=false`` accepts.
    """

    name: str = "wikipedia"
    data_dir: str
    features: Count = 100
    seed: Seed = 0
    check: bool = True

    def load(self) -> Graph:
        """Read the file, downloading and converting it if necessary, and draw features and labels."""
        folder = Path(self.data_dir) / FOLDER
        download.ensure_extracted(folder, [FILE], ADDRESS)
        blocks = _edge_blocks(folder / FILE)
        source, target = cached_arrays(folder / FILE, folder / ARRAYS, ("source", "target"), blocks)
        nodes = 1 + max(int(ends[part].max()) for ends in (source, target) for part in arrays.chunks(ends))
        splits = split_by_fraction(nodes, 0.5, 0.25, self.seed)
        if self.check:
            actual = Statistics(nodes, len(source), self.features, CLASSES, split_fractions(*splits))
            check_statistics(self.name, PUBLISHED["wikipedia"], actual)
        adjacency = CSR.from_edges(source, target, nodes, both=True)
        features = normal_features(nodes, self.features, [self.seed, 2])
        labels = np.random.default_rng([self.seed, 1]).integers(0, CLASSES, nodes, np.int8)
        return Graph(self.name, adjacency, features, labels, CLASSES, *splits, inductive=self.inductive)


def _edge_blocks(file: Path) -> Iterator[tuple[Array, Array]]:
    """Iterate over blocks of sources and targets; nodes are numbered from one in the file."""
    with file.open("rb") as stream:
        line = stream.readline()
        while line.startswith(b"%"):
            line = stream.readline()
        columns, rest = len(line.split()), line
        while text := stream.read(BLOCK):
            lines, _, rest = (rest + text).rpartition(b"\n")
            if lines:
                yield _parse_edges(lines, columns)
        if rest.strip():
            yield _parse_edges(rest, columns)


def _parse_edges(text: bytes, columns: int) -> tuple[Array, Array]:
    numbers = parse_integers(text)
    if columns < 2 or len(numbers) != columns * (text.strip().count(b"\n") + 1):
        raise ValueError(f"a line does not have {columns} columns like the first line")
    ends = numbers.reshape(-1, columns)[:, :2] - 1
    if ends.min() < 0 or ends.max() >= 2**31:
        raise ValueError(f"an edge refers to node {ends.min() + 1} or {ends.max() + 1}; nodes are numbered from 1")
    source, target = ends.astype(np.int32).T
    return source, target
