"""Batches of AS-GCN: products whose weights depend on the learned scores, and their variance."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from sign.baselines.batches import TrainingBatch
from sign.baselines.graph_data import GraphData
from sign.baselines.layered import LayeredBatches
from sign.baselines.network import Network
from sign.baselines.propagation import Propagation, matrix_of
from sign.baselines.samplers.asgcn import AdaptiveBatch, ASGCNSampler, Candidates
from sign.models.networks.sparse import Inputs, SparseMatrix

LOWEST = 1e-3  # score: every node can be drawn


def scores(network: Network, features: Inputs) -> Tensor:
    """Return the positive scores of some nodes."""
    return softplus(network.scores(features)).squeeze(1) + LOWEST


class AdaptiveBatches(LayeredBatches):
    """Batches that are drawn by the scores of the network at the beginning of an epoch."""

    sampler: ASGCNSampler

    def __init__(self, data: GraphData, sampler: ASGCNSampler, variance_weight: float) -> None:
        super().__init__(data, sampler)
        self.variance_weight = variance_weight

    def epoch(self, number: int, network: Network) -> Iterator[TrainingBatch]:
        """Iterate over the batches of an epoch."""
        with torch.no_grad():
            device = network.scores.weight.device
            current = scores(network, self.data.inputs.to(device)).cpu().numpy()
        self.sampler = replace(self.sampler, scores=current)
        return super().epoch(number, network)

    def propagations(self, batch: AdaptiveBatch, network: Network) -> list[Propagation]:
        """Return the products of all layers; the variance of the last one is penalised."""
        weights = [0.0] * (len(batch.blocks) - 1) + [self.variance_weight]
        return [
            AdaptiveProduct(block, candidates, self.data.inputs, network, weight)
            for block, candidates, weight in zip(map(matrix_of, batch.blocks), batch.candidates, weights, strict=True)
        ]


class AdaptiveProduct(Propagation):
    """The product with a block that was drawn with probabilities q', corrected to those of the present scores, q.

    Column v is multiplied by q'(v) / q(v), which has a gradient for the scores. The variance of a single draw,
    averaged over rows and columns of the result, is the estimated second moment under q minus the squared mean.
    """

    def __init__(
        self, block: SparseMatrix, candidates: Candidates, features: Inputs, network: Network, variance_weight: float
    ) -> None:
        super().__init__(block)
        self.network, self.variance_weight = network, variance_weight
        self.features = features[torch.from_numpy(candidates.nodes)]
        self.masses, self.probabilities = map(_float, (candidates.masses, candidates.probabilities[candidates.drawn]))
        self.drawn, self.draws = torch.from_numpy(candidates.drawn), candidates.draws

    def product(self, h: Inputs) -> Tensor:
        """Return the estimate, and set the penalty."""
        h = h.to_dense()  # of few nodes, and its product has a gradient for the scores
        if not len(self.drawn):
            return self.block @ h
        weights = self.masses * scores(self.network, self.features)
        ratio = self.probabilities / (weights[self.drawn] / weights.sum())
        z = self.block @ (h * ratio[:, None])
        if self.variance_weight:
            second = self._squares() @ (h.detach() ** 2 * ratio[:, None])
            self.penalty = self.variance_weight * (second - z.detach() ** 2).clamp(min=0).mean()
        return z

    def _squares(self) -> SparseMatrix:
        """The block of (a / q')² times the share of its column among the draws."""
        csr, shares = self.block.csr, self.draws / self.draws.sum()
        assert csr.weights is not None
        squares = (csr.weights**2 / shares[csr.indices]).astype(np.float32)
        return SparseMatrix(csr.indptr, csr.indices, squares, self.block.columns)

    def to(self, device: torch.device) -> Self:
        """Move its tensors to a device."""
        for name in ("features", "masses", "probabilities", "drawn"):
            setattr(self, name, getattr(self, name).to(device))
        return self


def _float(array: np.ndarray) -> Tensor:
    return torch.from_numpy(array.astype(np.float32))
