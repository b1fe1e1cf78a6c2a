"""Generated graphs with the statistics of a data set of the paper, for benchmarks and dry runs."""

from dataclasses import dataclass
from math import gcd
from typing import Annotated, Literal, get_args

import numpy as np

from sign.datasets.base import Dataset
from sign.datasets.sampling import SIGNAL, multilabel_matrix, normal_features
from sign.datasets.statistics import PUBLISHED
from sign.errors import FieldError
from sign.graph.csr import CSR, index_type
from sign.graph.graph import Graph
from sign.system import arrays
from sign.validation import Range, Seed

Like = Literal["wikipedia", "ogbn-papers100M", "ogbn-products", "reddit", "yelp", "flickr", "ppi"]
SIZES = {name: PUBLISHED[name] for name in get_args(Like)}


@dataclass(frozen=True, kw_only=True)
class Lookalike(Dataset):
    """A random graph with the statistics of a data set of the paper, times ``scale``.

    Communities are the classes, degrees follow a power law, features are the centre of a community plus noise. As
    many edges are drawn as the data set has; duplicates are merged.
    """

    like: Like
    scale: Annotated[float, Range(1e-6, 1)] = 1.0
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nodes < 10 * SIZES[self.like].classes:
            raise FieldError("scale", self.scale, f"leaves {self.nodes} nodes of {self.like}; use a larger scale")

    @property
    def nodes(self) -> int:
        """Number of nodes, a multiple of the number of communities."""
        size = SIZES[self.like]
        return round(size.nodes * self.scale / size.classes) * size.classes

    def load(self) -> Graph:
        """Generate the graph; equal settings give equal graphs."""
        size = SIZES[self.like]
        factor = next(f for f in range(int(0.618 * self.nodes) | 1, self.nodes) if gcd(f, self.nodes) == 1)
        permuted = np.arange(self.nodes) * pow(factor, -1, self.nodes) % self.nodes
        community = (permuted % size.classes).astype(np.int16)
        rng = np.random.default_rng(self.seed)
        labelled = np.sort(rng.choice(self.nodes, round(size.labelled * self.nodes), replace=False))
        order = rng.permutation(len(labelled))
        bounds = np.cumsum([round(fraction * len(labelled)) for fraction in size.split[:2]])
        train, val, test = (np.sort(labelled[part]) for part in np.split(order, bounds))
        centres = SIGNAL * rng.standard_normal((size.classes, size.features), np.float32)
        adjacency = self._adjacency(factor)
        features = normal_features(self.nodes, size.features, [self.seed], lambda rows: centres[community[rows]])
        labels = multilabel_matrix(rng, community, size.classes, np.float32) if size.multilabel else community
        splits = train, val, test
        return Graph(self.name, adjacency, features, labels, size.classes, *splits, size.directed, self.inductive)

    def _adjacency(self, factor: int) -> CSR:
        from sign.datasets.synthetic.edge_kernels import draw_edges

        size = SIZES[self.like]
        edges = round(size.edges_once * self.scale)
        source, target = (arrays.empty(edges, index_type(self.nodes)) for _ in range(2))
        for part in arrays.chunks(source):
            draw_edges(self.seed, part.start, self.nodes, size.classes, factor, source[part], target[part])
            arrays.release(target[part])
        return CSR.from_edges(source, target, self.nodes, both=not size.directed)
