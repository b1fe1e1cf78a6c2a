"""What takes the place of a product in a layer of a batch: a sampled block, or rows that are known."""

from typing import Self

import torch
from torch import Tensor

from sign.baselines.samplers.batches import Block
from sign.models.networks.sparse import Inputs, SparseMatrix, SparseRows


def matrix_of(block: Block) -> SparseMatrix:
    """Return the matrix of a sampled block."""
    return SparseMatrix(block.indptr, block.indices, block.weights, block.columns)


class Propagation:
    """The product of one layer with a block, whose columns start with its rows if the layer reads those.

    ``penalty`` is added to the loss of the batch.
    """

    penalty: Tensor | float = 0.0

    def __init__(self, block: SparseMatrix) -> None:
        self.block = block

    def product(self, h: Inputs) -> Inputs:
        """Return the rows of the next layer, aggregated from ``h``."""
        return h.multiplied_by(self.block) if isinstance(h, SparseRows) else self.block @ h

    def own(self, h: Inputs) -> Inputs:
        """Return the rows of ``h`` that belong to the nodes of the next layer."""
        return h[: self.block.rows]

    def to(self, device: torch.device) -> Self:
        """Move its tensors to a device; blocks follow at their first product."""
        return self


class Known(Propagation):
    """A product that has been computed before: its rows for the nodes of a batch."""

    def __init__(self, rows: Inputs) -> None:
        self.rows = rows

    def product(self, h: Inputs) -> Inputs:
        """Return the rows."""
        return self.rows

    def own(self, h: Inputs) -> Inputs:
        """Return all rows."""
        return h

    def to(self, device: torch.device) -> Self:
        """Move the rows to a device."""
        self.rows = self.rows.to(device)
        return self
