"""The card of a graph: its statistics before training, and the cost of a hop on this machine."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sign.engines.base import Engine
from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.features import Features
from sign.graph.graph import SPLITS, Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.system import arrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = 1 << 25  # multiplications of a timed product, if there are as many: fewer are lost in the noise
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Card:
    """Statistics of a graph.

    Attributes
    ----------
    degrees
        Distinct neighbours per node, in both directions, without self-loops.
    homophily
        The fraction of edges between labelled nodes, without self-loops, that join equal labels; None for multilabel
        data, for which it is not defined.
    duplicates
        Edges that were listed more than once, in an undirected graph in either direction; None if unknown.
    class_sizes
        Nodes per class.
    untrained
        Classes without a training node.
    hop_bytes
        Size of one hop: the rows that some split uses, in float32.
    hop_seconds
        Time of one product of the normalised adjacency with all rows, extrapolated from a few columns.
    """

    name: str
    nodes: int
    edges: int
    directed: bool
    weighted: bool
    degrees: Array
    components: int
    largest: int
    loops: int
    duplicates: int | None
    homophily: float | None
    class_sizes: Array
    unlabelled: int
    untrained: int
    multilabel: bool
    splits: dict[str, int]
    columns: int
    density: float
    hop_bytes: int
    hop_seconds: float

    @property
    def isolated(self) -> int:
        """Nodes without a neighbour."""
        return int((self.degrees == 0).sum())


def card_of(graph: Graph, engine: Engine) -> Card:
    """Compute the statistics of a graph, and time one product."""
    simple = remove_self_loops(graph.undirected)
    loops = graph.adjacency.entries - remove_self_loops(graph.adjacency).entries
    edges = graph.adjacency.entries if graph.directed else (graph.adjacency.entries + loops) // 2
    listed = graph.adjacency.listed_edges
    components, largest = _components(simple)
    rows = sum(len(graph.nodes_of(split)) for split in SPLITS)
    return Card(
        name=graph.name,
        nodes=graph.nodes,
        edges=edges,
        directed=graph.directed,
        weighted=graph.adjacency.weights is not None,
        degrees=np.diff(simple.indptr),
        components=components,
        largest=largest,
        loops=loops,
        duplicates=None if listed is None else listed - edges,
        homophily=None if graph.multilabel else _homophily(graph),
        class_sizes=_class_sizes(graph, np.arange(graph.nodes)),
        unlabelled=int((graph.labels.reshape(graph.nodes, -1) < 0).any(axis=1).sum()),
        untrained=int((_class_sizes(graph, graph.train) == 0).sum()),
        multilabel=graph.multilabel,
        splits={split: len(graph.nodes_of(split)) for split in SPLITS},
        columns=graph.features.shape[1],
        density=_density(graph.features),
        hop_bytes=4 * rows * graph.features.shape[1],
        hop_seconds=_seconds(graph, engine),
    )


def _components(simple: CSR) -> tuple[int, int]:
    """The number of connected components, and of the nodes of the largest."""
    from scipy.sparse.csgraph import connected_components

    count, member = connected_components(simple.to_scipy(), directed=False)
    return int(count), int(np.bincount(member).max())


def _homophily(graph: Graph) -> float:
    """See :class:`Card`; NaN if no edge joins two labelled nodes."""
    csr, labels = graph.adjacency, graph.labels
    equal = joined = 0
    for part in arrays.chunks(csr.indices):
        target = csr.indices[part]
        source = np.searchsorted(csr.indptr, np.arange(part.start, part.stop), "right") - 1
        counted = (source != target) & (labels[source] >= 0) & (labels[target] >= 0)
        joined += int(counted.sum())
        equal += int((counted & (labels[source] == labels[target])).sum())
    return equal / joined if joined else float("nan")


def _class_sizes(graph: Graph, nodes: Array) -> Array:
    """The number of nodes of each class."""
    labels = graph.labels[nodes]
    counts: Array = (labels == 1).sum(axis=0) if graph.multilabel else np.bincount(labels[labels >= 0])
    return np.pad(counts, (0, graph.classes - len(counts)))


def _density(features: Features) -> float:
    """The fraction of features that are not zero."""
    nonzero = sum(int(np.count_nonzero(features[part])) for part in arrays.chunks(features))
    return nonzero / features.size


def _seconds(graph: Graph, engine: Engine) -> float:
    """The shortest of a few products with some columns, extrapolated to all; the first, which compiles, aside."""
    matrix = NormalizedAdjacency().matrix(graph)
    columns = min(max(arrays.CACHE_LINE, WORK // (matrix.csr.entries + graph.nodes)), graph.features.shape[1])
    x = np.ascontiguousarray(graph.features[:, :columns], np.float32)
    engine.product(matrix, x)
    seconds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        engine.product(matrix, x)
        seconds.append(time.perf_counter() - began)
    return float(min(seconds) * graph.features.shape[1] / columns)


def draw(card: Card) -> "Figure":
    """Plot degrees on logarithmic axes, class sizes, and splits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    degrees = card.degrees[card.degrees > 0]
    if len(degrees):
        edges = np.unique(np.geomspace(1, degrees.max() + 1, 25).astype(np.int64))
        counts, _ = np.histogram(degrees, edges)
        # Bins grow with the degree: the plot shows nodes per degree of a bin.
        left.plot(np.sqrt(edges[:-1] * (edges[1:] - 0.999)), counts / np.diff(edges), "o", color="#31688e")
        left.set(xscale="log", yscale="log")
    left.set(
        title=f"degrees ({card.isolated:,} nodes of degree 0)", xlabel="neighbours", ylabel="nodes per degree"
    )
    middle.bar(np.arange(len(card.class_sizes)), np.sort(card.class_sizes)[::-1], color="#31688e")
    middle.set(title="class balance", xlabel="classes, largest first", ylabel="nodes")
    right.bar(list(card.splits), list(card.splits.values()), color="#31688e")
    right.set(title="splits", ylabel="nodes")
    figure.suptitle(f"{card.name}: {card.nodes:,} nodes, {card.edges:,} edges", fontsize=11)
    return figure


def save(card: Card, folder: Path) -> Path:
    """Save the plot of a card in ``folder``; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{card.name}.png"
    draw(card).savefig(file, dpi=150)
    return file
