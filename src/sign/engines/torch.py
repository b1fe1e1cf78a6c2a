"""Products by torch's compressed sparse rows, on a CPU or a GPU."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sign.engines.base import Engine
from sign.errors import SignError
from sign.graph.csr import CSR, Array, Floats, index_type
from sign.graph.csr_transforms import clear_other_rows
from sign.graph.matrix import Matrix

if TYPE_CHECKING:
    import torch

SHARE = 0.8  # of the device's free memory that a product may take
COLUMN_ARRAYS = 4  # as large as a slice of x that a product holds at once


@dataclass(frozen=True)
class TorchEngine(Engine):
    """torch on ``device``; of x, as many columns at a time are there as fit."""

    device: Literal["cpu", "cuda"] = "cpu"

    @contextmanager
    def limits(self, scratch: Path) -> Iterator[None]:
        """The memory, of which torch itself takes some."""
        import torch  # noqa: F401

        with super().limits(scratch):
            yield

    def needs(self, matrix: Matrix) -> tuple[int, int]:
        """Indices and weights in torch's form, of all rows and of some; two more arrays on the CPU."""
        return 24 * matrix.csr.entries + 8 * matrix.csr.nodes, 8 * matrix.csr.nodes

    def product(
        self, matrix: Matrix, x: Floats, rows: Array | None = None, out: Floats | None = None
    ) -> Floats:
        """Scale by the right factor, multiply, add the self-loops, scale by the left one."""
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
            raise SignError(
                "engine.device=cuda: torch sees no GPU here; use engine.device=cpu or engine=local"
            )
        return torch.device(self.device)


@lru_cache(maxsize=1)  # an operator of many products uses one matrix for all of them
def _sparse(csr: CSR, device: Any) -> "torch.Tensor":
    """The rows on the device; torch wants one index type for both arrays, and all weights."""
    import torch

    index = index_type(max(csr.entries, csr.nodes))
    weights = np.ones(csr.entries, np.float32) if csr.weights is None else np.require(csr.weights, None, "W")
    indptr, indices, values = (
        torch.from_numpy(array).to(device)
        for array in (csr.indptr.astype(index), csr.indices.astype(index), weights)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is in beta
        return torch.sparse_csr_tensor(indptr, indices, values, (csr.nodes, csr.nodes))


def _factor(factor: Floats | None, device: Any) -> "torch.Tensor | None":
    import torch

    return None if factor is None else torch.from_numpy(factor).to(device)[:, None]


def _columns(device: Any, nodes: int, columns: int) -> int:
    """How many columns of a product fit the device."""
    import torch

    if device.type == "cpu":  # what fits is known before: x is the block that fits
        return columns
    free, _ = torch.cuda.mem_get_info(device)
    fitting = int(SHARE * free) // (4 * COLUMN_ARRAYS * nodes)
    if fitting < 1:
        raise SignError(
            f"engine.device=cuda: {free / 1e9:.1f} GB of the GPU are free, which do not hold one column of "
            f"{nodes:,} nodes beside the graph; use engine=local"
        )
    return min(fitting, columns)
