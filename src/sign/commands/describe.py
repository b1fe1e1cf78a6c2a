"""Print and plot the statistics of a graph."""

from typing import TYPE_CHECKING

import numpy as np
from omegaconf import DictConfig
from rich.table import Column, Table

from sign.config.instantiate import instantiate_section, writable_folder
from sign.datasets.base import Dataset
from sign.engines.base import Engine
from sign.system import memory
from sign.system.console import console

if TYPE_CHECKING:
    from sign.experiments.dataset_card import Card
    from sign.graph.graph import Graph


def main(cfg: DictConfig) -> None:
    """Load the data set, print its card, plot it, and print the path of the plot."""
    folder = writable_folder("paths.output_dir", cfg.paths.output_dir)
    dataset, engine = instantiate_section(cfg, "dataset", Dataset), instantiate_section(cfg, "engine", Engine)
    from sign.experiments import dataset_card

    with engine.limits(folder):
        card = dataset_card.card_of(dataset.load(), engine)
    print_card(card)
    console.print(str(dataset_card.save(card, folder / "cards")), soft_wrap=True)


def print_card(card: "Card") -> None:
    """Print the statistics of a graph."""
    columns = Column(no_wrap=True), Column(overflow="fold")
    table = Table(*columns, title=card.graph.name, title_justify="left", show_header=False)
    for row in _rows(card):
        table.add_row(*row)
    console.print(table)


def _rows(card: "Card") -> list[tuple[str, str]]:
    graph, degrees, sizes = card.graph, card.degrees, card.class_sizes
    weighted = graph.adjacency.weights is not None
    kind = f"{'directed' if graph.directed else 'undirected'}, {'weighted' if weighted else 'unweighted'}"
    homophily = "not defined for multilabel data"
    if card.homophily is not None:
        homophily = f"{card.homophily:.3f} of the edges between labelled nodes join equal labels"
    classes = f"{len(sizes)} {'labels, any number per node' if graph.multilabel else 'classes'}"
    classes += f"; {sizes.min():,} to {sizes.max():,} nodes each"
    if card.untrained:
        classes += f"; {card.untrained} without a training node"
    neighbours = f"{degrees.min():,} to {degrees.max():,}, median {np.median(degrees):g}, mean {degrees.mean():.2f}"
    hop = f"{memory.format_size(card.hop_bytes)} in the store; a product takes about {card.hop_seconds:.2g} s here"
    return [
        ("nodes", f"{graph.nodes:,}"),
        ("edges", f"{graph.edges:,} {kind}; {graph.adjacency.self_loops:,} self-loops"),
        *_edge_data(graph),
        ("duplicates", _duplicates(card)),
        ("neighbours", f"{neighbours}; {card.isolated:,} isolated nodes"),
        ("components", f"{card.components:,}; the largest has {card.largest / graph.nodes:.1%} of the nodes"),
        ("homophily", homophily),
        ("labels", f"{classes}; {card.unlabelled:,} nodes unlabelled"),
        ("splits", ", ".join(f"{size:,} {split}" for split, size in card.splits.items())),
        ("features", f"{graph.features.shape[1]:,} columns, {card.density:.1%} not zero"),
        ("one hop", hop),
    ]


def _edge_data(graph: "Graph") -> list[tuple[str, str]]:
    """Return what is known about edges beside their weights."""
    rows = []
    if graph.edge_features is not None:
        names = f": {', '.join(graph.edge_feature_names)}" if graph.edge_feature_names else ""
        rows.append(("edge features", f"{graph.edge_features.shape[1]:,} per edge{names}"))
    if (timed := graph.edge_times) is not None and len(timed.times):
        count = len(timed.times) if graph.directed else (len(timed.times) + timed.self_loops) // 2
        rows.append(("edge times", f"{count:,} timed edges, from {timed.times.min():g} to {timed.times.max():g}"))
    return rows


def _duplicates(card: "Card") -> str:
    if not card.duplicates:
        return "unknown" if card.duplicates is None else "none"
    same = "an edge again" if card.graph.directed else "an edge again, or its reverse"
    return f"{card.duplicates:,} of {card.graph.edges + card.duplicates:,} listed edges are {same}"
