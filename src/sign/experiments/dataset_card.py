"""The card of a graph: its statistics before training, and the cost of a hop on this machine."""

import timeit
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import connected_components

from sign.engines.base import Engine
from sign.graph.csr import Array
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import SPLITS, Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.system import arrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = 1 << 25  # multiplications of a timed product, if there are as many: fewer are lost in the noise
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Card:
    """A graph, its statistics, and the cost of a hop on this machine."""

    graph: Graph
    duplicates: int | None  # edges listed more than once, in an undirected graph in either direction; None if unknown
    degrees: Array  # distinct neighbours per node, in both directions, without self-loops
    components: int
    largest: int  # nodes of the largest component
    homophily: float | None  # None for multilabel data, for which it is not defined
    class_sizes: Array  # nodes per class
    unlabelled: int
    untrained: int  # classes without a training node
    splits: dict[str, int]
    density: float  # the fraction of features that are not zero
    hop_bytes: int  # of the rows that some split uses, in float32
    hop_seconds: float  # of one product of the normalised adjacency with all rows

    @property
    def isolated(self) -> int:
        """Nodes without a neighbour."""
        return int((self.degrees == 0).sum())


def card_of(graph: Graph, engine: Engine) -> Card:
    """Compute the statistics of a graph, and time one product."""
    simple = remove_self_loops(graph.undirected)
    listed = graph.adjacency.listed_edges
    components, members = connected_components(simple.to_scipy(), directed=False)
    splits = {split: len(graph.nodes_of(split)) for split in SPLITS}
    nonzero = sum(int(np.count_nonzero(graph.features[part])) for part in arrays.chunks(graph.features))
    return Card(
        graph=graph,
        duplicates=None if listed is None else listed - graph.edges,
        degrees=np.diff(simple.indptr),
        components=int(components),
        largest=int(np.bincount(members).max()),
        homophily=None if graph.multilabel else _homophily(graph),
        class_sizes=_class_sizes(graph, np.arange(graph.nodes)),
        unlabelled=int((graph.labels.reshape(graph.nodes, -1) < 0).any(axis=1).sum()),
        untrained=int((_class_sizes(graph, graph.train) == 0).sum()),
        splits=splits,
        density=nonzero / graph.features.size,
        hop_bytes=4 * sum(splits.values()) * graph.features.shape[1],
        hop_seconds=_seconds(graph, engine),
    )


def _homophily(graph: Graph) -> float:
    """The fraction of edges between labelled nodes, without self-loops, that join equal labels; NaN without any."""
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


def _seconds(graph: Graph, engine: Engine) -> float:
    """The shortest of a few products with some columns, extrapolated to all; the first, which compiles, aside."""
    matrix = NormalizedAdjacency().matrix(graph)
    columns = min(max(arrays.CACHE_LINE, WORK // (matrix.csr.entries + graph.nodes)), graph.features.shape[1])
    x = np.ascontiguousarray(graph.features[:, :columns], np.float32)
    _, *seconds = timeit.repeat(lambda: engine.product(matrix, x), number=1, repeat=1 + ROUNDS)
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
    left.set(title=f"degrees ({card.isolated:,} isolated nodes)", xlabel="neighbours", ylabel="nodes per degree")
    middle.bar(np.arange(len(card.class_sizes)), np.sort(card.class_sizes)[::-1], color="#31688e")
    middle.set(title="class balance", xlabel="classes, largest first", ylabel="nodes")
    right.bar(list(card.splits), list(card.splits.values()), color="#31688e")
    right.set(title="splits", ylabel="nodes")
    figure.suptitle(f"{card.graph.name}: {card.graph.nodes:,} nodes, {card.graph.edges:,} edges", fontsize=11)
    return figure


def save(card: Card, folder: Path) -> Path:
    """Save the plot of a card in ``folder``; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{card.graph.name}.png"
    draw(card).savefig(file, dpi=150)
    return file
