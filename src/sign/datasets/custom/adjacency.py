"""Edges ▶ adjacency: several weights of one edge are equal, combined by a rule, or an error."""

import logging

import numpy as np

from sign.datasets.custom.edges import Edges
from sign.errors import SignError
from sign.graph.csr import CSR, WEIGHT_RULE, Array, Combine, ConflictingWeights, Floats, first_invalid
from sign.graph.csr_transforms import merge_directions
from sign.graph.edge_data import ConflictingFeatures, TimedEdges, features_by_entry
from sign.graph.graph import quoted_name
from sign.system import arrays

log = logging.getLogger(__name__)


def build_adjacency(edges: Edges, nodes: int, directed: bool, combine: Combine, node_ids: Array | None) -> CSR:
    """Build the adjacency, symmetric unless the graph is ``directed``.

    Without weights an edge is an entry of one, however often it is listed. Weights are combined per edge: first those
    that are listed in the same direction, then, in an undirected graph, those of the two directions, unless they are
    equal. With ``combine="error"`` all weights of an edge must be equal.
    """
    if edges.weights is None:
        return CSR.from_edges(edges.source, edges.target, nodes, both=not directed)
    if (invalid := first_invalid(edges.weights)) is not None:
        source, target = (quoted_name(node_ids, ends[invalid]) for ends in (edges.source, edges.target))
        raise SignError(
            f"{edges.file}: the edge from {source} to {target} has weight {edges.weights[invalid]}; {WEIGHT_RULE}"
        )
    try:
        listed = CSR.from_edges(edges.source, edges.target, nodes, edges.weights, combine=combine)
        if combine == "error" and (duplicates := len(edges.source) - listed.entries):
            repeated = "%s: %d edges are listed again in the same direction and with the same weight; each counts once"
            log.info(f"{repeated} (dataset.combine=sum adds them)", edges.file, duplicates)
        return listed if directed else merge_directions(listed, combine)
    except ConflictingWeights as conflict:
        ends = (conflict.source, conflict.target)
        source, target = (quoted_name(node_ids, node) for node in ends)
        edge = f"from {source} to {target}" if directed else f"between {source} and {target}"
        weights = " and ".join(f"{weight:g}" for weight in _extremes(edges, edges.weights, ends, directed))
        raise SignError(
            f"{edges.file}: the edge {edge} is listed with different weights, such as {weights}; correct them, or "
            "combine them with dataset.combine=mean, max or sum"
        ) from conflict


def build_edge_features(
    edges: Edges, adjacency: CSR, directed: bool, combine: Combine, node_ids: Array | None
) -> Floats | None:
    """Return the features of listed edges by entry of the adjacency, if there are any; listings combine as weights."""
    if edges.features is None:
        return None
    try:
        return features_by_entry(edges.source, edges.target, edges.features, adjacency, directed, combine)
    except ConflictingFeatures as conflict:
        source, target = (quoted_name(node_ids, node) for node in (conflict.source, conflict.target))
        edge = f"from {source} to {target}" if directed else f"between {source} and {target}"
        raise SignError(
            f"{edges.file}: the edge {edge} is listed with different features; correct them, or combine them with "
            "dataset.combine=mean, max or sum"
        ) from conflict


def build_edge_times(edges: Edges, nodes: int, directed: bool) -> TimedEdges | None:
    """Return the listed edges with their times, if they have some; all listings are kept."""
    if edges.times is None:
        return None
    return TimedEdges.from_edges(edges.source, edges.target, edges.times, nodes, both=not directed)


def _extremes(edges: Edges, weights: Floats, ends: tuple[int, int], directed: bool) -> tuple[float, float]:
    """Return the smallest and the largest weight of an edge."""
    found: list[float] = []
    for part in arrays.chunks(edges.source):
        source, target = edges.source[part], edges.target[part]
        mask = (source == ends[0]) & (target == ends[1])
        if not directed:
            mask |= (source == ends[1]) & (target == ends[0])
        found += weights[part][mask].tolist()
    return float(np.min(found)), float(np.max(found))
