"""Sparse matrices of a batch: blocks that multiply tensors, and rows of sparse inputs that weights multiply."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse
import torch
from torch import Tensor

from sign.baselines.samplers.batches import Block
from sign.engines.local.engine import LocalEngine
from sign.graph.csr import CSR, Array
from sign.graph.matrix import Matrix
from sign.graph.partition import entries_of

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

    @property
    def values(self) -> Array:
        """One value per entry."""
        return np.ones(self.csr.entries, np.float32) if self.csr.weights is None else self.csr.weights

    @cached_property
    def transposed(self) -> "SparseBlock":
        """The transposed matrix, which gradients are multiplied with."""
        turned = self.to_scipy().T.tocsr()
        return SparseBlock(turned.indptr, turned.indices, turned.data, self.rows)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Convert to scipy."""
        return scipy.sparse.csr_array((self.values, self.csr.indices, self.csr.indptr), (self.rows, self.columns))

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
            arrays = (torch.from_numpy(array).to(device) for array in (self.csr.indptr, self.csr.indices, self.values))
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


class SparseRows(SparseBlock):
    """Rows of inputs that stay sparse, such as bags of words: weights multiply them, and they have no gradient."""

    @classmethod
    def from_scipy(cls, matrix: scipy.sparse.csr_array) -> Self:
        """Return the rows of a matrix."""
        return cls(matrix.indptr, matrix.indices, matrix.data.astype(np.float32, copy=False), matrix.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.columns

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: Tensor | Array | slice) -> "SparseRows":
        """Select rows."""
        chosen = np.arange(self.rows)[rows] if isinstance(rows, slice) else np.asarray(rows)
        indptr, positions = entries_of(self.csr.indptr, chosen)
        return SparseRows(indptr, self.csr.indices[positions], self.values[positions], self.columns)

    def with_values(self, function: Callable[[Tensor], Tensor]) -> "SparseRows":
        """Return rows whose entries have the values of a function of these, such as dropout."""
        values = function(torch.from_numpy(self.values)).numpy()
        return SparseRows(self.csr.indptr, self.csr.indices, values, self.columns)

    def multiplied_by(self, block: SparseBlock) -> "SparseRows":
        """Return the product of a block with these rows."""
        return SparseRows.from_scipy(block.to_scipy() @ self.to_scipy())

    def to_dense(self) -> Tensor:
        """Convert to a tensor."""
        return torch.from_numpy(self.to_scipy().toarray())

    def to(self, device: torch.device) -> Self:
        """Return these rows, which follow the weights to their device."""
        return self


Inputs = Tensor | SparseRows
