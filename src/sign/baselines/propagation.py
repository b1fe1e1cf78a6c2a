"""Products of a batch: sparse blocks with gradients, and what takes their place in a layer."""

from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from sign.baselines.samplers.batches import Block
from sign.engines.local.engine import LocalEngine
from sign.graph.csr import CSR
from sign.graph.matrix import Matrix

ENGINE = LocalEngine()


class SparseBlock:
    """A sparse matrix that multiplies tensors: on a CPU by the local engine, which is faster, elsewhere by torch."""

    def __init__(self, indptr: Any, indices: Any, weights: Any, columns: int) -> None:
        self.rows, self.columns = len(indptr) - 1, columns
        self.csr = CSR(indptr.astype(np.int64, copy=False), indices.astype(np.int32, copy=False), weights)
        self.device: torch.device | str = "cpu"

    @classmethod
    def of(cls, block: Block) -> Self:
        """Return the entries of a sampled block."""
        return cls(block.indptr, block.indices, block.weights, block.columns)

    @cached_property
    def transposed(self) -> "SparseBlock":
        """The transposed matrix, which gradients are multiplied with."""
        import scipy.sparse

        data = np.ones(self.csr.entries, np.float32) if self.csr.weights is None else self.csr.weights
        matrix = scipy.sparse.csr_array((data, self.csr.indices, self.csr.indptr), (self.rows, self.columns))
        turned = matrix.T.tocsr()
        return SparseBlock(turned.indptr, turned.indices, turned.data, self.rows)

    def multiply(self, h: Tensor) -> Tensor:
        """Return the product in float32, without a gradient."""
        if not self.csr.entries:
            return h.new_zeros(self.rows, h.shape[1], dtype=torch.float32)
        if h.device.type == "cpu":
            out = np.empty((self.rows, h.shape[1]), np.float32)
            return torch.from_numpy(ENGINE.product(Matrix(self.csr), h.detach().float().numpy(), out=out))
        return self._tensor(h.device) @ h.float()

    def _tensor(self, device: torch.device) -> Tensor:
        if self.device != device:
            weights = np.ones(self.csr.entries, np.float32) if self.csr.weights is None else self.csr.weights
            arrays = (torch.from_numpy(array).to(device) for array in (self.csr.indptr, self.csr.indices, weights))
            indptr, indices, values = arrays
            shape = (self.rows, self.columns)
            self.device = device
            self.tensor = torch.sparse_csr_tensor(indptr.int(), indices, values, shape, check_invariants=False)
        return self.tensor

    def __matmul__(self, h: Tensor) -> Tensor:
        """Return the product, with a gradient for ``h``."""
        product: Tensor = _Product.apply(h, self)  # type: ignore[no-untyped-call]
        return product


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, block: SparseBlock) -> Tensor:
        ctx.block = block
        return block.multiply(h).to(h.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (gradient,) = gradients
        return ctx.block.transposed.multiply(gradient).to(gradient.dtype), None


class Propagation:
    """The product of one layer with a block, whose columns start with its rows if the layer reads those.

    ``penalty`` is added to the loss of the batch.
    """

    penalty: Tensor | float = 0.0

    def __init__(self, block: SparseBlock) -> None:
        self.block = block

    def product(self, h: Tensor) -> Tensor:
        """Return the rows of the next layer, aggregated from ``h``."""
        return self.block @ h

    def own(self, h: Tensor) -> Tensor:
        """Return the rows of ``h`` that belong to the nodes of the next layer."""
        return h[: self.block.rows]

    def to(self, device: torch.device) -> Self:
        """Move its tensors to a device; blocks follow at their first product."""
        return self


class Known(Propagation):
    """A product that has been computed before: its rows for the nodes of a batch."""

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows

    def product(self, h: Tensor) -> Tensor:
        """Return the rows."""
        return self.rows

    def own(self, h: Tensor) -> Tensor:
        """Return all rows."""
        return h

    def to(self, device: torch.device) -> Self:
        """Move the rows to a device."""
        self.rows = self.rows.to(device)
        return self
