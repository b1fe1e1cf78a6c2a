"""VR-GCN, or Stochastic-GCN: few neighbours, corrected by earlier activations (Chen et al., arXiv 1710.10568)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from sign.baselines.base import Baseline, check_layers
from sign.operators.adjacency import NormalizedAdjacency
from sign.validation import Count, Power

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network


@dataclass(frozen=True, kw_only=True)
class VRGCN(Baseline):
    """Convolutions whose products are those with a history of the activations, corrected at ``fanouts`` neighbours.

    The product of the first layer is computed before training, so there is one convolution more than ``fanouts``;
    ``dense_layers`` dense ones follow. Layers are those of GraphSAGE (``aggregator: mean``) or of GCN (``gcn``). The
    history is part of the checkpoint, so that a run can be resumed. Dropout acts after the product, where it needs no
    correction: the authors' code has it before, and estimates its mean and noise separately (CVD).
    """

    first_product: ClassVar[bool] = True
    fanouts: list[Count]
    aggregator: Literal["mean", "gcn"]
    dense_layers: Power

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("fanouts", self.fanouts)

    @property
    def operator(self) -> NormalizedAdjacency:
        """The mean over neighbours, or the normalised adjacency of GCN."""
        return NormalizedAdjacency("row" if self.aggregator == "mean" else "gcn")

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network, with its history."""
        import torch

        from sign.baselines.network import DenseLayer, GCNLayer, SAGELayer, stack

        convolution = SAGELayer if self.aggregator == "mean" else GCNLayer
        convolutions = len(self.fanouts) + 1
        kinds = [*[convolution] * convolutions, *[DenseLayer] * self.dense_layers]
        network = stack(kinds, features, classes, self)
        for number in range(1, convolutions):
            network.register_buffer(f"history{number}", torch.zeros(nodes, self.units))
        return network

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Return batches of target nodes with their sampled and with all of their neighbours."""
        from sign.baselines.control_variates import ControlVariateBatches
        from sign.baselines.samplers.vrgcn import VRGCNSampler

        sampler = VRGCNSampler(
            adjacency=data.adjacency, targets=data.targets, seed=seed, batch_size=batch_size, fanouts=self.fanouts
        )
        return ControlVariateBatches(data, sampler)
