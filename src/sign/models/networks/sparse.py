"""Sparse inputs of networks: matrices that multiply tensors, and rows that weights multiply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from sign.engines.local.engine import LocalEngine
from sign.graph.csr import CSR, Array
from sign.graph.matrix import Matrix
from sign.graph.partition import entries_of

if TYPE_CHECKING:
    import scipy.sparse

ENGINE = LocalEngine()


class SparseMatrix:
    """A sparse matrix that multiplies tensors: on a CPU by the local engine, which is faster, elsewhere by torch."""

    def __init__(self, indptr: Any, indices: Any, weights: Any, columns: int) -> None:
        self.rows, self.columns = len(indptr) - 1, columns
        self.csr = CSR(indptr.astype(np.int64, copy=False), indices.astype(np.int32, copy=False), weights)
        self.device: torch.device | str = "cpu"

    @property
    def values(self) -> Array:
        """One value per entry."""
        return np.ones(self.csr.entries, np.float32) if self.csr.weights is None else self.csr.weights

    @cached_property
    def transposed(self) -> "SparseMatrix":
        """The transposed matrix, which gradients are multiplied with."""
        turned = self.to_scipy().T.tocsr()
        return SparseMatrix(turned.indptr, turned.indices, turned.data, self.rows)

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Convert to scipy."""
        import scipy.sparse

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
    def forward(ctx: Any, h: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix.multiply(h).to(h.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (gradient,) = gradients
        return ctx.matrix.transposed.multiply(gradient).to(gradient.dtype), None


class SparseRows(SparseMatrix):
    """Rows of inputs that stay sparse, such as bags of words: weights multiply them, and they have no gradient."""

    @classmethod
    def from_scipy(cls, matrix: "scipy.sparse.csr_array") -> Self:
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

    def multiplied_by(self, matrix: SparseMatrix) -> "SparseRows":
        """Return the product of a matrix with these rows."""
        return SparseRows.from_scipy(matrix.to_scipy() @ self.to_scipy())

    def to_dense(self) -> Tensor:
        """Convert to a tensor."""
        return torch.from_numpy(self.to_scipy().toarray())

    def to(self, device: torch.device) -> Self:
        """Return these rows, which follow the weights to their device."""
        return self


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Wide rows of which some hops are sparse: those in ``sparse``, by position; ``matrix`` has the others.

    ``widths`` are the columns of all hops, in the order of a wide row.
    """

    widths: list[int]
    matrix: Tensor
    sparse: Mapping[int, SparseRows]

    @property
    def columns(self) -> int:
        """The columns of a wide row."""
        return sum(self.widths)

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, rows: Tensor | slice) -> "MixedRows":
        """Select rows."""
        matrix = self.matrix[rows] if isinstance(rows, slice) else self.matrix.index_select(0, rows)
        return MixedRows(self.widths, matrix, {hop: hop_rows[rows] for hop, hop_rows in self.sparse.items()})

    own = __getitem__

    def with_values(self, function: Callable[[Tensor], Tensor]) -> "MixedRows":
        """Return rows with the values of a function of the dense hops, and of the entries of the sparse ones."""
        sparse = {hop: rows.with_values(function) for hop, rows in self.sparse.items()}
        return replace(self, matrix=function(self.matrix), sparse=sparse)

    def to(self, device: torch.device, **_: Any) -> Self:
        """Return the same rows with the dense hops on a device; sparse ones follow the weights."""
        return replace(self, matrix=self.matrix.to(device))


Inputs: TypeAlias = Tensor | SparseRows
WideRows: TypeAlias = Tensor | MixedRows


class Dropout(nn.Dropout):
    """Dropout of dense rows, or of the entries of sparse ones; zeros stay zeros in either case."""

    def forward(self, h: Any) -> Any:
        """Drop values."""
        if isinstance(h, Tensor):
            return super().forward(h)
        return h.with_values(super().forward) if self.training and self.p else h
