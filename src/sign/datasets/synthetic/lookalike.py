"""Generated graphs with the size of a data set of the paper, for benchmarks and rehearsals."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import gcd
from typing import Annotated, Literal

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.statistics import PUBLISHED
from sign.errors import FieldError
from sign.graph.csr import CSR, Array, Floats, index_type
from sign.graph.graph import Graph
from sign.system import arrays
from sign.validation import Range, Seed

ROWS = 1 << 16  # features that are drawn at a time
SIGNAL = 0.25  # size of a community's centre, for noise of size one
SIZES = {
    name: PUBLISHED[name]
    for name in ("wikipedia", "ogbn-papers100M", "ogbn-products", "reddit", "yelp", "flickr", "ppi")
}


@dataclass(frozen=True, kw_only=True)
class Lookalike(Dataset):
    """Nodes, edges, features, classes and split of a data set of the paper, times ``scale``; the rest is drawn.

    Communities are the classes, degrees follow a power law, features are a community's centre and noise. As
    many edges are drawn as the data set has; the few that are drawn twice are joined.
    """

    like: Literal["wikipedia", "ogbn-papers100M", "ogbn-products", "reddit", "yelp", "flickr", "ppi"]
    scale: Annotated[float, Range(1e-6, 1)] = 1.0
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nodes < 10 * SIZES[self.like].classes:
            raise FieldError("scale", self.scale, f"leaves {self.nodes} nodes of {self.like}; ask for more")

    @property
    def nodes(self) -> int:
        """Nodes: as many in each community."""
        size = SIZES[self.like]
        return round(size.nodes * self.scale / size.classes) * size.classes

    def load(self) -> Graph:
        """Draw the graph; equal settings give equal graphs."""
        size = SIZES[self.like]
        factor = next(f for f in range(int(0.618 * self.nodes) | 1, self.nodes) if gcd(f, self.nodes) == 1)
        community = (np.arange(self.nodes) * pow(factor, -1, self.nodes) % self.nodes % size.classes).astype(
            np.int16
        )
        rng = np.random.default_rng(self.seed)
        labelled = np.sort(rng.choice(self.nodes, round(size.labelled * self.nodes), replace=False))
        order = rng.permutation(len(labelled))
        cuts = np.cumsum([round(share * len(labelled)) for share in size.split[:2]])
        train, val, test = (np.sort(labelled[part]) for part in np.split(order, cuts))
        return Graph(
            name=self.name,
            adjacency=self._adjacency(factor),
            features=self._features(
                rng.standard_normal((size.classes, size.features), np.float32), community
            ),
            labels=self._labels(rng, community),
            classes=size.classes,
            train=train,
            val=val,
            test=test,
            directed=size.directed,
            inductive=self.inductive,
        )

    def _adjacency(self, factor: int) -> CSR:
        from sign.datasets.synthetic.edge_kernels import draw_edges

        size = SIZES[self.like]
        edges = round(size.pairs * self.scale)
        source, target = (arrays.empty(edges, index_type(self.nodes)) for _ in range(2))
        for part in arrays.chunks(source):
            draw_edges(self.seed, part.start, self.nodes, size.classes, factor, source[part], target[part])
            arrays.release(target[part])
        return CSR.from_edges(source, target, self.nodes, both=not size.directed)

    def _features(self, centres: Floats, community: Array) -> Floats:
        features = arrays.empty((self.nodes, centres.shape[1]), np.float32)

        def draw(start: int) -> None:
            part = features[start : start + ROWS]
            np.random.default_rng([self.seed, start]).standard_normal(dtype=np.float32, out=part)
            part += SIGNAL * centres[community[start : start + ROWS]]
            arrays.release(part)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(draw, range(0, self.nodes, ROWS)))
        return features

    def _labels(self, rng: np.random.Generator, community: Array) -> Array:
        size = SIZES[self.like]
        if not size.multilabel:
            return community
        meaning = rng.random((size.classes, size.classes)) < 0.3
        flipped = rng.random((self.nodes, size.classes), np.float32) < 0.05
        return (meaning[community] ^ flipped).astype(np.uint8)
