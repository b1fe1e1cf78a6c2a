"""Batches of target nodes with layers of sampled nodes below them."""

from collections.abc import Iterator
from typing import Any

import torch

from sign.baselines.batches import Batches, TrainingBatch, target_batch
from sign.baselines.graph_data import GraphData
from sign.baselines.network import Network
from sign.baselines.propagation import Known, Propagation, matrix_of
from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import LayeredBatch


class LayeredBatches(Batches):
    """Batches of a layered sampler; the first product of a layer that samples nothing is known."""

    def __init__(self, data: GraphData, sampler: TargetSampler[Any]) -> None:
        self.data, self.sampler = data, sampler

    def __len__(self) -> int:
        return len(self.sampler)

    def epoch(self, number: int, network: Network) -> Iterator[TrainingBatch]:
        """Iterate over the batches of an epoch."""
        for batch in self.sampler.epoch(number):
            known = []
            if self.data.first_product is not None:
                known = [Known(self.data.first_product[torch.from_numpy(batch.nodes[0])])]
            propagations = [*known, *self.propagations(batch, network)]
            yield target_batch(self.data, batch.nodes[0], propagations, batch.nodes[-1])

    def propagations(self, batch: Any, network: Network) -> list[Propagation]:
        """Return the products of the sampled layers, from the inputs up."""
        layers: LayeredBatch = batch
        return [Propagation(matrix_of(block)) for block in layers.blocks]
