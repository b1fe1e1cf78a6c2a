"""AS-GCN: nodes of each layer sampled by learned scores (Huang et al., arXiv 1809.05343)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sign.baselines.base import Baseline, check_layers
from sign.validation import Count, Range

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network


@dataclass(frozen=True, kw_only=True)
class ASGCN(Baseline):
    """A GCN of one layer per number of ``sizes``, the nodes that are drawn below the targets and further down.

    A node is drawn in proportion to a score, a learned linear function of its features, and the variance of the
    outputs times ``variance_weight`` is part of the loss. An epoch draws with the scores at its beginning; later steps
    are corrected for that, so that estimates stay unbiased. The authors' code multiplies the score by an attention of
    the layer above, trims nodes to 32 neighbours, and has an option for skip connections; all three are left out.
    """

    sizes: list[Count]
    variance_weight: Annotated[float, Range(0)] = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("sizes", self.sizes)

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network, with the function of the scores."""
        from torch import nn

        from sign.baselines.network import GCNLayer, Linear, stack

        network = stack([GCNLayer] * len(self.sizes), features, classes, self)
        network.scores = Linear(features, 1)
        nn.init.zeros_(network.scores.weight)  # all nodes are equal at first
        nn.init.zeros_(network.scores.bias)
        return network

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Return batches of target nodes, with the nodes that were drawn for the layers below them."""
        import numpy as np

        from sign.baselines.adaptive import AdaptiveBatches
        from sign.baselines.samplers.asgcn import ASGCNSampler

        sampler = ASGCNSampler(
            adjacency=data.adjacency,
            targets=data.targets,
            seed=seed,
            batch_size=batch_size,
            sizes=self.sizes,
            scores=np.ones(data.nodes, np.float32),
        )
        return AdaptiveBatches(data, sampler, self.variance_weight)
