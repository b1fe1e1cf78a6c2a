"""Rows of stored hops ▶ what the network says about each node, block by block within the memory budget."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_linear_bn_eval

from sign.engines.progress import advance
from sign.graph.csr import Array
from sign.models.networks.attention import SelfAttention
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import HopLinear
from sign.system import memory
from sign.training.hop_rows import HopRows

if TYPE_CHECKING:  # both import Lightning, which executors of Spark do not need
    from sign.diffusion.hops import Hops
    from sign.prediction.model import TrainedModel

BLOCK_ROWS = 1 << 13  # rows at a time: large enough for the products, small enough for the caches
Score = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of all hops of some nodes, read in order from the store."""

    hops: "Hops"
    split: str
    scaling: str

    def __len__(self) -> int:
        return len(self.hops.rows[self.split][0])

    @property
    def columns(self) -> int:
        """Columns of a wide row: those of all hops side by side."""
        return sum(array.shape[1] for array in self.hops.arrays[self.split])

    def blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield blocks of wide rows with their positions; a block is valid until the next one is requested."""
        rows = HopRows(self.hops.arrays[self.split], self.hops.rows[self.split], self.scaling)
        fitting = int(memory.remaining() // (16 * self.columns))  # rows, activations, and as much to spare
        size = max(1, min(BLOCK_ROWS, fitting, len(self)))
        wide = np.empty((size, self.columns), np.float32)
        for start in range(0, len(self), size):
            part = slice(start, min(start + size, len(self)))
            block = wide[: part.stop - part.start]
            rows.read(part, block)
            yield part, torch.from_numpy(block)


def scores(rows: StoredRows, score: Score) -> Iterator[tuple[slice, Array]]:
    """Yield the scores of all rows in blocks, with their positions."""
    for part, block in rows.blocks():
        with torch.inference_mode():
            values = score(block)
        yield part, values.float().numpy()
        advance(len(block))


def probabilities(logits: Array, multilabel: bool) -> Array:
    """The probability of each class, or of each label."""
    tensor = torch.from_numpy(logits)
    return (tensor.sigmoid() if multilabel else tensor.softmax(dim=1)).numpy()


def score_of(model: "TrainedModel", what: str = "predictions", precision: str = "float32") -> Score:
    """What is computed of a block of rows: logits, embeddings, or with ``what="hops"`` the rows themselves."""
    if what == "hops":
        return lambda rows: rows
    return score_by(inference_network(model.task.network), what, precision)


def score_by(network: HopNetwork, what: str, precision: str) -> Score:
    """What a network for inference computes of a block of rows."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    network = network.to(dtype)
    score = network.embed if what == "embeddings" else network
    return lambda rows: score(rows.to(dtype))


def inference_network(network: HopNetwork) -> HopNetwork:
    """A copy of a network for inference: without dropout, batch norm and attention folded into linear layers."""
    copy = deepcopy(network).eval()
    for parent in copy.modules():
        if isinstance(parent, SelfAttention):
            parent.merge()
        if isinstance(parent, nn.Sequential):
            folded: list[nn.Module] = []
            for module in parent:
                before = folded[-1] if folded else None
                if isinstance(module, nn.BatchNorm1d) and isinstance(before, HopLinear):
                    before.fuse(module)
                elif isinstance(module, nn.BatchNorm1d) and isinstance(before, nn.Linear):
                    folded[-1] = fuse_linear_bn_eval(before, module)
                elif not isinstance(module, nn.Dropout):
                    folded.append(module)
            parent._modules.clear()
            for number, module in enumerate(folded):
                parent.add_module(str(number), module)
    return copy.requires_grad_(False)
