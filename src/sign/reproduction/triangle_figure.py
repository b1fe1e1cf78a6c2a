"""The triangle figure of the appendix, for any graphs."""

from typing import TYPE_CHECKING

import numpy as np

from sign.graph.csr import Array
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.operators.triangle import TriangleAdjacency

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 40


def triangle_deviations(graph: Graph, keep_self_loops: bool = False) -> Array:
    r"""The standard deviation of each node's triangle weights over its original neighbours.

    For node i this is the deviation of :math:`T_{ij}`, :math:`j ∈ N(i)`, where neighbours
    without a common triangle count as zero. Nodes without neighbours are left out.
    """
    csr = graph.undirected if keep_self_loops else remove_self_loops(graph.undirected)
    degrees = np.diff(csr.indptr)
    weights = TriangleAdjacency(keep_self_loops).matrix(graph).to_scipy()
    squares = np.asarray(weights.multiply(weights).sum(axis=1)).ravel()
    sums = np.asarray(weights.sum(axis=1)).ravel()
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = squares / degrees - (sums / degrees) ** 2
    deviations: Array = np.sqrt(np.maximum(variance[degrees > 0], 0))
    return deviations


def triangle_figure(deviations: list[tuple[str, Array]]) -> "Figure":
    """Normalised frequency distributions on common axes, one panel per data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(deviations), 3.0), layout="constrained")
    panels = figure.subplots(1, len(deviations), sharex=True, sharey=True, squeeze=False)[0]
    widest = max(float(values.max(initial=0)) for _, values in deviations) or 1.0
    edges = np.linspace(0, widest, BINS + 1)
    for panel, (name, values) in zip(panels, deviations, strict=True):
        panel.set_xlabel("standard deviation of the weights")
        if not len(values):
            panel.set_title(f"{name} (no edges)", fontsize=10)
            continue
        frequency, _ = np.histogram(values, edges)
        panel.bar(edges[:-1], frequency / len(values), np.diff(edges), align="edge", color="#31688e")
        panel.axvline(values.mean(), color="#d95f02", linewidth=1.2)
        panel.set_title(f"{name} (mean {values.mean():.3f})", fontsize=10)
    panels[0].set_ylabel("fraction of nodes")
    figure.suptitle("Triangle operator: variation within neighbourhoods", fontsize=11)
    return figure
