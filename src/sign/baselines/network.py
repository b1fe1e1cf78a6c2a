"""Networks on a graph: layers that are rows of dense algebra around a product with the matrix of the graph.

A layer is ``update(own, A · message(h))``. Both functions work row by row, so that the product in between can be one
with a sampled block in training, and one with the whole matrix, in parts, in evaluation.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, normalize

from sign.baselines.base import Baseline, Norm
from sign.baselines.propagation import Propagation
from sign.models.networks.sparse import Dropout, Inputs, SparseRows


class BatchNorm(nn.BatchNorm1d):
    """Batch norm that uses the running statistics for a batch of one row, which has no variance."""

    def forward(self, h: Tensor) -> Tensor:
        """Normalise."""
        if self.training and len(h) < 2:
            return batch_norm(h, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        return super().forward(h)


def activation(units: int, norm: Norm, norm_last: bool = False) -> nn.Module:
    """Return ReLU with a normalisation of the rows before it, or after it."""
    kinds: dict[str, list[nn.Module]] = {"none": [], "batch": [BatchNorm(units)], "layer": [nn.LayerNorm(units)]}
    return nn.Sequential(*([nn.ReLU(), *kinds[norm]] if norm_last else [*kinds[norm], nn.ReLU()]))


class Linear(nn.Linear):
    """A linear map of dense or sparse rows."""

    def forward(self, h: Inputs) -> Tensor:
        """Multiply by the weights, and add the bias."""
        if not isinstance(h, SparseRows):
            return super().forward(h)
        product = h @ self.weight.T
        return product if self.bias is None else product + self.bias


def linear(inputs: int, outputs: int, bias: bool = True) -> Linear:
    """Return a linear map with the initialisation of GCN: Glorot, and a bias of zero."""
    layer = Linear(inputs, outputs, bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class Layer(nn.Module):
    """A layer; ``finish`` is applied to its outputs, and ``dropout`` to what is multiplied by its weights.

    ``project_first`` says whether the weights are in ``message``; otherwise, it returns its argument.
    """

    propagates: ClassVar[bool] = True
    project_first: bool = False

    def __init__(self, dropout: float, finish: nn.Module | None) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.finish = finish or nn.Identity()

    def message(self, h: Inputs) -> Inputs:
        """Return the rows that are multiplied by the matrix."""
        return h

    def update(self, own: Inputs, z: Inputs) -> Tensor:
        """Return the outputs from the rows of the nodes themselves, and from those of the product."""
        raise NotImplementedError


class GCNLayer(Layer):
    """A h W + b (Kipf and Welling), as A (h W) if ``project_first``, which PyG's GCNConv does, else as (A h) W."""

    def __init__(
        self, inputs: int, outputs: int, dropout: float, finish: nn.Module | None = None, project_first: bool = False
    ) -> None:
        super().__init__(dropout, finish)
        self.linear = linear(inputs, outputs, bias=False)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.project_first = project_first

    def message(self, h: Inputs) -> Inputs:
        """Return h or h W."""
        return self._project(h) if self.project_first else h

    def update(self, own: Inputs, z: Inputs) -> Tensor:
        """Return the outputs; those of the nodes themselves are part of A."""
        projected = z.to_dense() if self.project_first else self._project(z)
        outputs: Tensor = self.finish(projected + self.bias)
        return outputs

    def _project(self, h: Inputs) -> Tensor:
        projected: Tensor = self.linear(self.dropout(h))
        return projected


class SAGELayer(Layer):
    """h W₁ + (A h) W₂ + b: GraphSAGE with the mean, for A = D⁻¹ W; PyG's SAGEConv."""

    def __init__(self, inputs: int, outputs: int, dropout: float, finish: nn.Module | None = None) -> None:
        super().__init__(dropout, finish)
        self.own = linear(inputs, outputs, bias=False)
        self.neighbours = linear(inputs, outputs)

    def update(self, own: Inputs, z: Inputs) -> Tensor:
        """Return the outputs."""
        outputs: Tensor = self.finish(self.own(self.dropout(own)) + self.neighbours(self.dropout(z)))
        return outputs


class ConcatLayer(Layer):
    """relu(h W₁ + b₁) beside relu((A h) W₂ + b₂), each normalised by a ``finish`` of its own: 2 · ``units`` outputs."""

    def __init__(self, inputs: int, units: int, dropout: float, own_finish: nn.Module, finish: nn.Module) -> None:
        super().__init__(dropout, finish)
        self.own, self.neighbours = linear(inputs, units), linear(inputs, units)
        self.own_finish = own_finish

    def update(self, own: Inputs, z: Inputs) -> Tensor:
        """Return the outputs."""
        halves = self.own_finish(self.own(self.dropout(own))), self.finish(self.neighbours(self.dropout(z)))
        return torch.cat(halves, dim=1)


class DenseLayer(Layer):
    """h W + b without the graph; ``unit_length`` normalises the inputs of each node, as GraphSAINT's classifier."""

    propagates = False

    def __init__(
        self, inputs: int, outputs: int, dropout: float, finish: nn.Module | None = None, unit_length: bool = False
    ) -> None:
        super().__init__(dropout, finish)
        self.linear = linear(inputs, outputs)
        self.unit_length = unit_length

    def update(self, own: Inputs, z: Inputs) -> Tensor:
        """Return the outputs from the rows of the nodes."""
        own = normalize(own.to_dense(), dim=1) if self.unit_length else own
        outputs: Tensor = self.finish(self.linear(self.dropout(own)))
        return outputs


def stack(kinds: Sequence[type[Any]], features: int, classes: int, baseline: Baseline, **options: Any) -> "Network":
    """Return a network of these layers; all but the last have the units, and the normalisation, of a baseline."""
    widths = [features, *[baseline.units] * (len(kinds) - 1), classes]
    finishes = [activation(baseline.units, baseline.norm) for _ in kinds[1:]]
    return Network(
        kind(inputs, outputs, baseline.dropout, finish, **options)
        for kind, inputs, outputs, finish in zip(kinds, widths, widths[1:], [*finishes, None], strict=False)
    )


class Network(nn.Module):
    """Layers one after the other. ``scores`` are those of a learned sampler, if it has one."""

    scores: nn.Linear

    def __init__(self, layers: Iterable[Layer]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)  # type: ignore[arg-type]

    def forward(self, h: Inputs, propagations: Iterable[Propagation]) -> Tensor:
        """Return the outputs of a batch, from its inputs and one propagation per layer that has a product."""
        remaining = iter(propagations)
        for layer in self:
            if layer.propagates:
                propagation = next(remaining)
                h = layer.update(propagation.own(h), propagation.product(layer.message(h)))
            else:
                h = layer.update(h, h)
        return h.to_dense()
