"""Graphs of any size with planted communities, for tests and benchmarks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.sampling import INSIDE, SIGNAL, multilabel_matrix, split_by_fraction
from sign.errors import FieldError
from sign.graph.csr import CSR, Array, Floats
from sign.graph.graph import Graph
from sign.system import arrays
from sign.validation import Count, Range, Seed

SLOPE = 2 / 3  # popularity falls with rank like r ** -2/3: degrees follow a power law with exponent 2.5
OFFSET = 3  # limits the degree of the most popular node of a large community
CLOSED = 0.5  # of those belong to triangles that are drawn as a whole


@dataclass(frozen=True, kw_only=True)
class Communities(Dataset):
    """Planted communities with power-law degrees, noisy features and triangles inside communities.

    An edge or a triangle inside a community, and an edge between any two nodes, pick their nodes by
    popularity, which falls with a node's rank in its community. Without ``multilabel`` the
    community is the class; with it each community has a random set of labels, five per cent of which
    are flipped. Graphs that differ in ``sample`` alone have the same communities (the same centres of their features,
    the same labels), but other nodes and edges.
    """

    name: str = "communities"
    nodes: Annotated[int, Range(4)] = 10_000
    edges: Count = 50_000
    features: Count = 50
    classes: Annotated[int, Range(2)] = 10
    multilabel: bool = False
    seed: Seed = 0
    sample: Seed = 0
    train_fraction: Annotated[float, Range(0.01, 0.98)] = 0.5
    val_fraction: Annotated[float, Range(0.01, 0.98)] = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.edges > self.nodes * (self.nodes - 1) // 20:
            raise FieldError(
                "edges", self.edges, f"more than a tenth of all pairs of {self.nodes} nodes; ask for fewer"
            )
        if self.classes > self.nodes // 2:
            raise FieldError("classes", self.classes, "must be at most half the number of nodes")
        if self.train_fraction + self.val_fraction > 0.99:
            raise FieldError("val_fraction", self.val_fraction, "training and validation leave no test nodes")

    def load(self) -> Graph:
        """Generate the graph; equal settings give equal graphs."""
        rng = np.random.default_rng(self.seed)
        # The members of a community are one range of node numbers while edges are drawn; the numbers
        # are shuffled after, or the graph would have a locality that real ones lack.
        bounds = np.linspace(0, self.nodes, self.classes + 1).astype(np.int64)
        source, target = self._edges(rng, bounds)
        shuffled = rng.permutation(self.nodes)
        centres = rng.standard_normal((self.classes, self.features), dtype=np.float32)
        features = arrays.empty((self.nodes, self.features), np.float32)
        draw_normal(rng, features)
        if self.sample:  # the first sample is drawn for its communities, then another in its place
            own = np.random.default_rng([self.seed, self.sample])
            source, target = self._edges(own, bounds)
            shuffled = own.permutation(self.nodes)
            draw_normal(own, features)
        for ends in (source, target):
            for part in arrays.chunks(ends):
                ends[part] = shuffled[ends[part]]
        community = np.empty(self.nodes, np.int64)
        community[shuffled] = np.repeat(np.arange(self.classes), np.diff(bounds))
        for part in arrays.chunks(features):
            features[part] += SIGNAL * centres[community[part]]
        splits = split_by_fraction(self.nodes, self.train_fraction, self.val_fraction, self.seed)
        adjacency = CSR.from_edges(source, target, self.nodes, both=True)
        labels = multilabel_matrix(rng, community, self.classes, np.float64) if self.multilabel else community
        return Graph(self.name, adjacency, features, labels, self.classes, *splits, inductive=self.inductive)

    def _edges(self, rng: np.random.Generator, bounds: Array) -> tuple[Array, Array]:
        """Draw exactly ``edges`` distinct pairs, in rounds because duplicates are removed."""
        pairs = np.empty(0, np.int64)
        while len(pairs) < self.edges:
            pairs = self._distinct(pairs, self._draw(rng, int((self.edges - len(pairs)) * 1.1) + 16, bounds))
        if (excess := len(pairs) - self.edges) > 0:
            keep = np.ones(len(pairs), bool)
            keep[rng.choice(len(pairs), excess, replace=False)] = False
            pairs = compressed(pairs, keep)
        source, target = arrays.empty(len(pairs), np.int64), arrays.empty(len(pairs), np.int64)
        for part in arrays.chunks(pairs):
            source[part], target[part] = np.divmod(pairs[part], self.nodes)
        return source, target

    def _distinct(self, pairs: Array, drawn: Iterable[Array]) -> Array:
        """Sort pairs and the new ones, without loops and duplicates; a pair is one number."""
        numbers = [pairs]
        for ends in drawn:
            low, high = ends.min(axis=1), ends.max(axis=1)
            numbers.append((low * self.nodes + high)[low != high])
        merged = arrays.empty(sum(map(len, numbers)), np.int64)
        np.concatenate(numbers, out=merged)
        numbers.clear()
        merged.sort()
        first = np.ones(len(merged), bool)
        np.not_equal(merged[1:], merged[:-1], out=first[1:])
        return compressed(merged, first)

    def _draw(self, rng: np.random.Generator, count: int, bounds: Array) -> Iterator[Array]:
        """Draw about ``count`` pairs of nodes in blocks: triangles and edges inside communities, edges anywhere."""

        def members(home: Array, size: int) -> Iterator[Array]:
            """Draw members of communities, the rows of ``home``: rank r with density (r + OFFSET) ** -SLOPE."""
            exponent = 1 - SLOPE
            for part in arrays.chunk_slices(home):
                first, sizes = bounds[home[part]], np.diff(bounds)[home[part]]
                low, high = OFFSET**exponent, (sizes + OFFSET) ** exponent
                ranks = (low + rng.random((len(first), size)) * (high - low)) ** (1 / exponent) - OFFSET
                yield first + np.minimum(ranks.astype(np.int64), sizes - 1)

        def homes(number: float) -> Array:
            return rng.integers(0, self.classes, int(number))

        for triangle in members(homes(count * INSIDE * CLOSED / 3)[:, None], 3):
            yield from (triangle[:, [0, 1]], triangle[:, [1, 2]], triangle[:, [0, 2]])
        yield from members(homes(count * INSIDE * (1 - CLOSED))[:, None], 2)
        yield from members(homes(2 * (int(count * (1 - INSIDE)) + 1)).reshape(-1, 2), 2)


def draw_normal(rng: np.random.Generator, out: Floats) -> None:
    """Fill an array with the numbers that drawing it as a whole would give."""
    for part in arrays.chunks(out):
        rng.standard_normal(dtype=np.float32, out=out[part])


def compressed(values: Array, keep: Array) -> Array:
    """Return the values to keep, within the memory budget."""
    chosen, end = arrays.empty(int(np.count_nonzero(keep)), values.dtype), 0
    for part in arrays.chunks(values):
        kept = values[part][keep[part]]
        chosen[end : end + len(kept)] = kept
        end += len(kept)
    return chosen
