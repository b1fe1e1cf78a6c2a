"""Batches that are subgraphs, whose layers all have the same product."""

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
import torch

from sign.baselines.batches import Batches, TrainingBatch
from sign.baselines.graph_data import GraphData
from sign.baselines.network import Network
from sign.baselines.propagation import Known, Propagation, matrix_of
from sign.baselines.samplers.batches import Block, Subgraph
from sign.baselines.samplers.clustergcn import ClusterSampler
from sign.baselines.samplers.graphsaint import Normalization, SAINTSampler


class SubgraphBatches(Batches):
    """Subgraphs of a network with a number of convolutions."""

    def __init__(self, data: GraphData, sampler: ClusterSampler | SAINTSampler, convolutions: int) -> None:
        self.data, self.sampler, self.convolutions = data, sampler, convolutions

    def __len__(self) -> int:
        return len(self.sampler)

    @abstractmethod
    def subgraphs(self, number: int) -> Iterator[Subgraph]:
        """Iterate over the subgraphs of an epoch."""

    def block(self, subgraph: Subgraph) -> Block:
        """Return the matrix of a subgraph."""
        return subgraph.block

    def epoch(self, number: int, network: Network) -> Iterator[TrainingBatch]:
        """Iterate over the batches of an epoch."""
        for subgraph in self.subgraphs(number):
            nodes, targets = torch.from_numpy(subgraph.nodes), torch.from_numpy(subgraph.targets)
            propagations: list[Propagation] = [Propagation(matrix_of(self.block(subgraph)))] * self.convolutions
            if self.data.first_product is not None:
                propagations[0] = Known(self.data.first_product[nodes])
            labels = self.data.labels[nodes[targets]]
            weights = torch.from_numpy(subgraph.loss_weights)
            yield TrainingBatch(self.data.inputs[nodes], propagations, labels, weights, targets)


class ClusterBatches(SubgraphBatches):
    """Unions of clusters, each normalised by itself; ``adjacency`` of the sampler is not normalised."""

    sampler: ClusterSampler

    def __init__(self, data: GraphData, sampler: ClusterSampler, convolutions: int, diag_lambda: float) -> None:
        super().__init__(data, sampler, convolutions)
        self.diag_lambda = diag_lambda

    def subgraphs(self, number: int) -> Iterator[Subgraph]:
        """Iterate over the unions of an epoch."""
        return self.sampler.epoch(number)

    def block(self, subgraph: Subgraph) -> Block:
        """Return (D + I)⁻¹ (W + (1 + λ) I), with the degrees of the subgraph."""
        import scipy.sparse

        matrix = subgraph.block.to_scipy()
        degrees = matrix.sum(axis=1) + 1
        identity = scipy.sparse.eye_array(len(subgraph.nodes), dtype=np.float32, format="csr")
        scaled = scipy.sparse.diags_array(1 / degrees) @ (matrix + (1 + self.diag_lambda) * identity)
        scaled = scaled.tocsr()
        return Block(scaled.indptr, scaled.indices, scaled.data.astype(np.float32), len(subgraph.nodes))


class SAINTBatches(SubgraphBatches):
    """Subgraphs of GraphSAINT, with its normalisation, if any."""

    sampler: SAINTSampler

    def __init__(
        self, data: GraphData, sampler: SAINTSampler, convolutions: int, normalization: Normalization | None
    ) -> None:
        super().__init__(data, sampler, convolutions)
        self.normalization = normalization

    def subgraphs(self, number: int) -> Iterator[Subgraph]:
        """Iterate over the subgraphs of an epoch."""
        return self.sampler.epoch(number, self.normalization)
