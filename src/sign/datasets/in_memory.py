"""A graph that a program has built itself."""

from dataclasses import dataclass

from sign.datasets.base import Dataset
from sign.graph.graph import SPLITS, Graph
from sign.system.hashing import digest


@dataclass(frozen=True, kw_only=True)
class InMemory(Dataset):
    """A graph in memory, under its own name."""

    graph: Graph

    @classmethod
    def of(cls, graph: Graph) -> "InMemory":
        """The data set of a graph."""
        return cls(name=graph.name, inductive=graph.inductive, graph=graph)

    def load(self) -> Graph:
        """Return the graph."""
        return self.graph

    def content_digest(self) -> str:
        """Hash of the graph, its labels and its splits."""
        graph = self.graph
        splits = (graph.nodes_of(split) for split in SPLITS)
        arrays = digest(graph.labels, *splits)
        return "-".join([graph.adjacency.digest, graph.features_digest, arrays, *graph.edge_data_digests.values()])
