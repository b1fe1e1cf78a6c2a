"""Products by torch's CSR tensors, on a CPU or a GPU."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sign.engines.base import Engine, NodeRows
from sign.errors import SignError
from sign.graph.csr import CSR, Floats, index_type
from sign.graph.csr_transforms import clear_other_rows
from sign.graph.matrix import Matrix

if TYPE_CHECKING:
    import torch

SHARE = 0.8  # of the device's free memory that a product may use
COLUMN_ARRAYS = 4  # arrays as large as a slice of x that a product holds at once


@dataclass(frozen=True)
class TorchEngine(Engine):
    """torch on ``device``, which multiplies as many columns at a time as fit."""

    device: Literal["cpu", "cuda"] = "cpu"

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """Keep to the memory, after torch itself has taken its part."""
        import torch  # noqa: F401

        with super().limits(scratch):
            yield

    def needs(self, matrix: Matrix) -> tuple[int, int]:
        """Return the bytes of the indices and weights in torch's form, and of two more arrays per column."""
        return 24 * matrix.csr.entries + 8 * matrix.csr.nodes, 8 * matrix.csr.nodes

    def product(self, matrix: Matrix, x: Floats, rows: NodeRows = None, out: Floats | None = None) -> Floats:
        """Scale by the right factor, multiply, add the self-loops, scale by the left factor."""
        import torch

        device = self._device()
        chosen = matrix.csr if rows is None else clear_other_rows(matrix.csr, rows)
        sparse = _sparse(chosen, device)
        left, right = (_factor(factor, device) for factor in (matrix.left, matrix.right))
        out = np.empty_like(x, np.float32) if out is None else out
        width = _columns(device, len(x), x.shape[1])
        for start in range(0, x.shape[1], width):
            part = np.ascontiguousarray(x[:, start : start + width], np.float32)
            block = torch.from_numpy(part).to(device)
            block = block if right is None else block * right
            result = sparse @ block
            if matrix.self_loop:
                result.add_(block, alpha=matrix.self_loop)
            if left is not None:
                result.mul_(left)
            out[:, start : start + width] = result.cpu().numpy()
        return out

    def _device(self) -> "torch.device":
        import torch

        if self.device == "cuda" and not torch.cuda.is_available():
            raise SignError("engine.device=cuda: torch finds no GPU; use engine.device=cpu or engine=local")
        return torch.device(self.device)


@lru_cache(maxsize=1)  # all products of an operator use one matrix
def _sparse(csr: CSR, device: Any) -> "torch.Tensor":
    """Return the matrix on the device; torch needs one index type for both arrays, and a weight per entry."""
    import torch

    index = index_type(max(csr.entries, csr.nodes))
    weights = np.ones(csr.entries, np.float32) if csr.weights is None else np.require(csr.weights, None, "W")
    indptr, indices, values = (
        torch.from_numpy(array).to(device) for array in (csr.indptr.astype(index), csr.indices.astype(index), weights)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CSR tensors are in beta
        return torch.sparse_csr_tensor(indptr, indices, values, (csr.nodes, csr.nodes))


def _factor(factor: Floats | None, device: Any) -> "torch.Tensor | None":
    import torch

    return None if factor is None else torch.from_numpy(factor).to(device)[:, None]


def _columns(device: Any, nodes: int, columns: int) -> int:
    """Return the number of columns that a product can take at once on the device."""
    import torch

    if device.type == "cpu":  # x is a block that fits already
        return columns
    free, _ = torch.cuda.mem_get_info(device)
    fitting = int(SHARE * free) // (4 * COLUMN_ARRAYS * nodes)
    if fitting < 1:
        raise SignError(
            f"engine.device=cuda: {free / 1e9:.1f} GB of GPU memory are free, too little for one column of "
            f"{nodes:,} nodes besides the graph; use engine=local"
        )
    return min(fitting, columns)
