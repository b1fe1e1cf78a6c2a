"""The card of a graph: what matters before training, and what a hop will cost on this machine."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from sign.engines.base import Engine
from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.features import Features
from sign.graph.graph import SPLITS, Graph
from sign.operators.adjacency import NormalizedAdjacency
from sign.system import arrays, memory
from sign.system.console import console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORK = 1 << 25  # multiplications that are measured where there are as many: fewer are lost in the noise
ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Card:
    """Facts about a graph.

    Degrees count different neighbours, in both directions and without loops. ``homophily`` is the share of edges
    between labelled nodes, loops left out, that join equal labels; None for multilabel, where it is not defined.
    ``repeated`` are edges that were listed more than once, in an undirected graph in either direction; None where the
    number of edges that were listed is not known.
    ``balance`` are the nodes of each class. A hop holds the rows that some split uses, in float32; its seconds
    are those of one product of the normalised adjacency with all rows, scaled up from a few columns.
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
    repeated: int | None
    homophily: float | None
    balance: Array
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
    """Count, and measure one product."""
    simple = remove_self_loops(graph.undirected)
    loops = graph.adjacency.entries - remove_self_loops(graph.adjacency).entries
    edges = graph.adjacency.entries if graph.directed else (graph.adjacency.entries + loops) // 2
    listed = graph.adjacency.listed_edges
    components, largest = _components(simple)
    balance = _balance(graph, np.arange(graph.nodes))
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
        repeated=None if listed is None else listed - edges,
        homophily=None if graph.multilabel else _homophily(graph),
        balance=balance,
        unlabelled=int((graph.labels.reshape(graph.nodes, -1) < 0).any(axis=1).sum()),
        untrained=int((_balance(graph, graph.train) == 0).sum()),
        multilabel=graph.multilabel,
        splits={split: len(graph.nodes_of(split)) for split in SPLITS},
        columns=graph.features.shape[1],
        density=_density(graph.features),
        hop_bytes=4 * rows * graph.features.shape[1],
        hop_seconds=_seconds(graph, engine),
    )


def _components(simple: CSR) -> tuple[int, int]:
    """How many connected components there are, and the nodes of the largest."""
    from scipy.sparse.csgraph import connected_components

    count, member = connected_components(simple.to_scipy(), directed=False)
    return int(count), int(np.bincount(member).max())


def _homophily(graph: Graph) -> float:
    """See the card; NaN where no edge joins two labelled nodes."""
    csr, labels = graph.adjacency, graph.labels
    equal = joined = 0
    for part in arrays.chunks(csr.indices):
        target = csr.indices[part]
        source = np.searchsorted(csr.indptr, np.arange(part.start, part.stop), "right") - 1
        counted = (source != target) & (labels[source] >= 0) & (labels[target] >= 0)
        joined += int(counted.sum())
        equal += int((counted & (labels[source] == labels[target])).sum())
    return equal / joined if joined else float("nan")


def _balance(graph: Graph, nodes: Array) -> Array:
    """How many of the nodes have each class."""
    labels = graph.labels[nodes]
    counts: Array = (labels == 1).sum(axis=0) if graph.multilabel else np.bincount(labels[labels >= 0])
    return np.pad(counts, (0, graph.classes - len(counts)))


def _density(features: Features) -> float:
    """The share of features that are not zero."""
    filled = sum(int(np.count_nonzero(features[part])) for part in arrays.chunks(features))
    return filled / features.size


def _seconds(graph: Graph, engine: Engine) -> float:
    """The shortest of a few products of some columns, for all columns; compilation is over before."""
    matrix = NormalizedAdjacency().matrix(graph)
    columns = min(max(arrays.CACHE_LINE, WORK // (matrix.csr.entries + graph.nodes)), graph.features.shape[1])
    x = np.ascontiguousarray(graph.features[:, :columns], np.float32)
    engine.product(matrix, x)
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        engine.product(matrix, x)
        took.append(time.perf_counter() - began)
    return float(min(took) * graph.features.shape[1] / columns)


def show(card: Card) -> None:
    """Print the card."""
    table = Table(title=card.name, title_justify="left", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for fact, value in _lines(card):
        table.add_row(fact, value)
    console.print(table)


def _lines(card: Card) -> list[tuple[str, str]]:
    degrees, balance = card.degrees, card.balance
    kind = f"{'directed' if card.directed else 'undirected'}, {'weighted' if card.weighted else 'unweighted'}"
    homophily = "not defined for several labels a node"
    if card.homophily is not None:
        homophily = f"{card.homophily:.3f} of the edges between labelled nodes join equal labels"
    classes = f"{len(balance)} {'labels, any number a node' if card.multilabel else 'classes'}"
    classes += f"; {balance.min():,} to {balance.max():,} nodes each"
    if card.untrained:
        classes += f"; {card.untrained} without a training node"
    return [
        ("nodes", f"{card.nodes:,}"),
        ("edges", f"{card.edges:,} {kind}; {card.loops:,} self-loops"),
        ("duplicates", _duplicates(card)),
        (
            "neighbours",
            f"{degrees.min():,} to {degrees.max():,}, median {np.median(degrees):g}, mean {degrees.mean():.2f}; "
            f"{card.isolated:,} isolated nodes",
        ),
        ("components", f"{card.components:,}; the largest has {card.largest / card.nodes:.1%} of the nodes"),
        ("homophily", homophily),
        ("labels", f"{classes}; {card.unlabelled:,} nodes unlabelled"),
        ("splits", ", ".join(f"{size:,} {split}" for split, size in card.splits.items())),
        ("features", f"{card.columns:,} columns, {card.density:.1%} not zero"),
        (
            "one hop",
            f"{memory.format_size(card.hop_bytes)} in the store; a product takes about {card.hop_seconds:.2g} s here",
        ),
    ]


def _duplicates(card: Card) -> str:
    if card.repeated is None:
        return "not known"
    if not card.repeated:
        return "none"
    same = "the same edge again" if card.directed else "the same edge again, or its reverse"
    return f"{card.repeated:,} of {card.edges + card.repeated:,} that were listed are {same}"


def draw(card: Card) -> "Figure":
    """Degrees on logarithmic axes, class balance, and splits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    degrees = card.degrees[card.degrees > 0]
    if len(degrees):
        edges = np.unique(np.geomspace(1, degrees.max() + 1, 25).astype(np.int64))
        counts, _ = np.histogram(degrees, edges)
        # Bins grow with the degree: what is drawn is nodes for each degree of a bin.
        left.plot(np.sqrt(edges[:-1] * (edges[1:] - 0.999)), counts / np.diff(edges), "o", color="#31688e")
        left.set(xscale="log", yscale="log")
    left.set(
        title=f"degrees ({card.isolated:,} nodes of degree 0)", xlabel="neighbours", ylabel="nodes a degree"
    )
    middle.bar(np.arange(len(card.balance)), np.sort(card.balance)[::-1], color="#31688e")
    middle.set(title="class balance", xlabel="classes, largest first", ylabel="nodes")
    right.bar(list(card.splits), list(card.splits.values()), color="#31688e")
    right.set(title="splits", ylabel="nodes")
    figure.suptitle(f"{card.name}: {card.nodes:,} nodes, {card.edges:,} edges", fontsize=11)
    return figure


def save(card: Card, folder: Path) -> Path:
    """Draw the card into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{card.name}.png"
    draw(card).savefig(file, dpi=150)
    return file
