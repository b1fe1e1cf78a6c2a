"""GraphSAINT: sampled subgraphs (Zeng et al., arXiv 1907.04931)."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sign.baselines.base import Baseline
from sign.errors import FieldError
from sign.operators.adjacency import NormalizedAdjacency
from sign.validation import Count, Power

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network
    from sign.baselines.samplers.graphsaint import SAINTSampler


@dataclass(frozen=True, kw_only=True)
class GraphSAINT(Baseline):
    """Layers on subgraphs that are induced by drawn nodes, by the ends of drawn edges, or by random walks.

    ``architecture`` is the string of the authors' code: 1 is a convolution, whose two halves, of the nodes themselves
    and of their neighbours, are normalised and put side by side with ``units`` units each, and 0 is a dense layer; a
    classifier on rows of unit length follows. ``size`` is the number of nodes, of edges or of roots of walks of
    ``walk_length`` steps that are drawn per batch. Losses and products are normalised by estimated probabilities, from
    subgraphs with ``coverage`` times as many nodes as the graph; 0 normalises nothing. Dropout acts after the product,
    in the authors' code before; their normalisation, which the paper calls batch norm, is that of layers.
    """

    architecture: str
    sampler: Literal["node", "edge", "walk"]
    size: Count
    walk_length: Count
    coverage: Power
    batches_per_epoch: Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not re.fullmatch(r"[01](-[01])*", self.architecture):
            raise FieldError("architecture", self.architecture, "must be 0 and 1 joined by hyphens, such as 1-1-0")

    @property
    def variant(self) -> str:  # type: ignore[override]
        """The sampler."""
        return self.sampler

    @property
    def operator(self) -> NormalizedAdjacency:
        """The mean over neighbours."""
        return NormalizedAdjacency("row")

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network."""
        from sign.baselines.network import ConcatLayer, DenseLayer, Layer, Network, activation

        width = features
        layers: list[Layer] = []
        for order in self.architecture.split("-"):
            if order == "1":
                halves = (activation(self.units, self.norm, norm_last=True) for _ in range(2))
                layers.append(ConcatLayer(width, self.units, self.dropout, *halves))
            else:
                finish = activation(self.units, self.norm, norm_last=True)
                layers.append(DenseLayer(width, self.units, self.dropout, finish))
            width = self.units * (2 if order == "1" else 1)
        return Network([*layers, DenseLayer(width, classes, self.dropout, unit_length=True)])

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Estimate the normalisation, and return subgraphs."""
        from sign.baselines.subgraphs import SAINTBatches

        sampler = self._sampler(data, seed)
        normalization = sampler.estimated_normalization(self.coverage) if self.coverage else None
        return SAINTBatches(data, sampler, self.architecture.count("1"), normalization)

    def _sampler(self, data: "GraphData", seed: int) -> "SAINTSampler":
        from sign.baselines.samplers.graphsaint import SAINTEdgeSampler, SAINTNodeSampler, SAINTWalkSampler

        shared: dict[str, Any] = {
            "adjacency": data.adjacency,
            "targets": data.targets,
            "seed": seed,
            "batches": self.batches_per_epoch,
        }
        if self.sampler == "node":
            return SAINTNodeSampler(nodes_drawn=self.size, **shared)
        if self.sampler == "edge":
            return SAINTEdgeSampler(edges_drawn=self.size, **shared)
        return SAINTWalkSampler(roots=self.size, length=self.walk_length, **shared)
