"""GCN on the whole graph (Kipf and Welling, arXiv 1609.02907)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sign.baselines.base import Baseline
from sign.validation import Count

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network


@dataclass(frozen=True, kw_only=True)
class GCNFull(Baseline):
    """``layers`` graph convolutions, trained on all nodes at once: one step per epoch, whatever the batch size.

    The layers are those of PyG's GCNConv. As in the authors' code, dropout acts on the inputs of every layer; that
    code decays the weights of the first layer only, here all are decayed.
    """

    layers: Count

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network."""
        from sign.baselines.network import GCNLayer, stack

        return stack([GCNLayer] * self.layers, features, classes, self, project_first=True)

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Return the one batch of an epoch."""
        from sign.baselines.batches import FullBatch

        return FullBatch(data, self.layers)
