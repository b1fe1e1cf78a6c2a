"""Batches of VR-GCN: products with a history of the activations, corrected at the sampled neighbours."""

from typing import Self

import torch
from torch import Tensor

from sign.baselines.layered import LayeredBatches
from sign.baselines.network import Network
from sign.baselines.propagation import Propagation, matrix_of
from sign.baselines.samplers.batches import Integers
from sign.baselines.samplers.vrgcn import ControlVariateBatch
from sign.models.networks.sparse import Inputs, SparseMatrix


class ControlVariateBatches(LayeredBatches):
    """Batches whose products read and update the history of the network."""

    def propagations(self, batch: ControlVariateBatch, network: Network) -> list[Propagation]:
        """Return the products of all layers but the first."""
        return [
            ControlVariateProduct(
                matrix_of(sampled), matrix_of(complete), inputs, field, network.get_buffer(f"history{number}")
            )
            for number, (sampled, complete, inputs, field) in enumerate(
                zip(batch.blocks, batch.complete, batch.nodes[:-1], batch.fields, strict=True), start=1
            )
        ]


class ControlVariateProduct(Propagation):
    """The sampled block times the change since the history, plus all neighbours times the history.

    ``inputs`` are the nodes of the rows of h, and ``field`` those of all neighbours. The rows replace their history.
    """

    def __init__(
        self, sampled: SparseMatrix, complete: SparseMatrix, inputs: Integers, field: Integers, history: Tensor
    ) -> None:
        super().__init__(sampled)
        self.complete, self.history = complete, history
        self.inputs, self.field = torch.from_numpy(inputs), torch.from_numpy(field)

    def product(self, h: Inputs) -> Tensor:
        """Return the estimate, and update the history."""
        h = h.to_dense()
        z = self.block @ (h - self.history[self.inputs]) + self.complete @ self.history[self.field]
        self.history[self.inputs] = h.detach().float()
        return z

    def to(self, device: torch.device) -> Self:
        """Move its tensors to a device; the history is where the network is."""
        self.inputs, self.field = self.inputs.to(device), self.field.to(device)
        return self
