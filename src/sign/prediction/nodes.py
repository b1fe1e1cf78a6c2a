"""The nodes to score: a split, all nodes, or a list of ids."""

from pathlib import Path

import numpy as np

from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.splits import LISTS, read_ids
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.graph import SPLITS, Graph


def select_nodes(graph: Graph, nodes: str) -> Array:
    """Return the indices of ``all`` nodes, of those of a split, or of those whose ids a file lists, in its order."""
    if nodes == "all":
        return np.arange(graph.nodes)
    if nodes in SPLITS:
        selected = graph.nodes_of(nodes)
        if not len(selected):
            raise SignError(f"nodes={nodes}: {graph.name} has no {nodes} nodes; use nodes=all")
        return selected
    file = Path(nodes)
    if not file.name.endswith(LISTS):
        choices = ", ".join(("all", *SPLITS))
        raise SignError(f"nodes={nodes}: choose {choices}, or a file of node ids ({', '.join(LISTS)})")
    if not file.is_file():
        raise SignError(f"nodes={nodes}: there is no such file")
    selected = NodeIds.of_graph(graph).indices(read_ids(file))
    outside = selected[(selected < 0) | (selected >= graph.nodes)]
    if len(outside):
        raise SignError(f"nodes={nodes}: lists node {outside[0]}, but nodes are numbered 0 to {graph.nodes - 1}")
    if not len(selected):
        raise SignError(f"nodes={nodes}: lists no node")
    return selected
