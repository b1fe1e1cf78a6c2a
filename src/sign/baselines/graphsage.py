"""GraphSAGE with the mean over sampled neighbours (Hamilton et al., arXiv 1706.02216)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sign.baselines.base import Baseline, check_layers
from sign.operators.adjacency import NormalizedAdjacency
from sign.validation import Count

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network


@dataclass(frozen=True, kw_only=True)
class GraphSAGE(Baseline):
    """One layer per number of ``fanouts``, the neighbours that are sampled per node, from the targets down.

    The layers are those of PyG's SAGEConv, and the recipe is that of PyG's example. The authors' code instead puts
    the two halves of a layer side by side, draws with replacement from at most 128 neighbours, and has a classifier
    on embeddings of unit length.
    """

    fanouts: list[Count]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("fanouts", self.fanouts)

    @property
    def operator(self) -> NormalizedAdjacency:
        """The mean over neighbours."""
        return NormalizedAdjacency("row")

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network."""
        from sign.baselines.network import SAGELayer, stack

        return stack([SAGELayer] * len(self.fanouts), features, classes, self)

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Return batches of target nodes with their sampled neighbours."""
        from sign.baselines.layered import LayeredBatches
        from sign.baselines.samplers.neighbour import NeighbourSampler

        sampler = NeighbourSampler(
            adjacency=data.adjacency, targets=data.targets, seed=seed, batch_size=batch_size, fanouts=self.fanouts
        )
        return LayeredBatches(data, sampler)
