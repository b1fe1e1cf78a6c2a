"""Predicted classes that later stages of self-training use as labels."""

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sign.errors import SignError, reason
from sign.graph.csr import Array
from sign.system.atomic_files import write_bytes


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """The predicted classes of some nodes outside of training.

    ``graph`` is the content hash of the adjacency of the graph that the numbers of the nodes refer to.
    """

    nodes: Array
    labels: Array
    graph: str

    @classmethod
    def load(cls, file: Path) -> "PseudoLabels":
        """Read what :meth:`save` wrote."""
        try:
            with np.load(file, allow_pickle=False) as saved:
                return cls(saved["nodes"], saved["labels"], str(saved["graph"]))
        except (OSError, ValueError, KeyError) as error:
            raise SignError(f"{file}: cannot be read ({reason(error)}); train the run again") from error

    def save(self, file: Path) -> None:
        """Write a file, atomically."""
        content = io.BytesIO()
        np.savez(content, nodes=self.nodes, labels=self.labels, graph=np.array(self.graph))
        write_bytes(file, content.getbuffer())

    def join(self, nodes: Array, labels: Array) -> tuple[Array, Array]:
        """Return labelled nodes with these added, in ascending order, and the label of each."""
        others = ~np.isin(self.nodes, nodes)
        together = np.concatenate([nodes, self.nodes[others]])
        order = np.argsort(together)
        return together[order], np.concatenate([labels, self.labels[others]])[order]
