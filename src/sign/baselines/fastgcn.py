"""FastGCN: nodes of each layer sampled by importance (Chen et al., arXiv 1801.10247)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sign.baselines.base import Baseline, check_layers
from sign.validation import Count

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network


@dataclass(frozen=True, kw_only=True)
class FastGCN(Baseline):
    """A GCN whose layer below the targets, and each one further down, has ``sizes`` drawn nodes.

    As in the authors' code, the product of the first layer is computed before training, and dropout acts on what the
    weights multiply; there is one layer more than ``sizes``. Draws are independent, as in the paper; the code draws
    without replacement among the neighbours of the layer above, and samples nothing by default.
    """

    first_product: ClassVar[bool] = True
    sizes: list[Count]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("sizes", self.sizes)

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network."""
        from sign.baselines.network import GCNLayer, stack

        return stack([GCNLayer] * (len(self.sizes) + 1), features, classes, self)

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Return batches of target nodes, with the nodes that were drawn for the layers below them."""
        from sign.baselines.layered import LayeredBatches
        from sign.baselines.samplers.fastgcn import FastGCNSampler

        sampler = FastGCNSampler(
            adjacency=data.adjacency, targets=data.targets, seed=seed, batch_size=batch_size, sizes=self.sizes
        )
        return LayeredBatches(data, sampler)
