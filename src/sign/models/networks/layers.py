"""Layers on wide rows: what all hops go through at once, with weights of its own for each."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.compiler import is_compiling
from torch.nn.functional import batch_norm, prelu

from sign.models.networks.sparse import MixedRows, WideRows

Activation = Literal["relu", "prelu"]
LARGE = 1 << 23  # activations of a layer, 32 MB, from which on hops are computed one after the other


class HopLinear(nn.Module):
    r"""A linear map of each hop, :math:`[h_0 W_0 + b_0 | … | h_r W_r + b_r]`: one batched product for all.

    Hops with equal numbers of columns that stand side by side share a product, so that the number of operations does
    not depend on the number of hops.

    Parameters
    ----------
    layers
        The map of each hop, whose weights it takes over; all have equally many outputs.
    """

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.runs = [(width, len(list(run))) for width, run in groupby(layer.in_features for layer in layers)]
        ends = [sum(count for _, count in self.runs[:end]) for end in range(1, len(self.runs) + 1)]
        parts = [layers[end - count : end] for end, (_, count) in zip(ends, self.runs, strict=True)]
        self.weights = nn.ParameterList(torch.stack([layer.weight.detach().T for layer in part]) for part in parts)
        self.biases = nn.ParameterList(torch.stack([layer.bias.detach() for layer in part]) for part in parts)

    def forward(self, rows: WideRows) -> Tensor:
        """Return the wide rows of the results."""
        if isinstance(rows, MixedRows):
            return self._multiply_mixed(rows)
        parts = torch.split(rows, [width * count for width, count in self.runs], dim=1)
        codes = []
        for number, (part, (width, count)) in enumerate(zip(parts, self.runs, strict=True)):
            hops = torch.unflatten(part, 1, (count, width)).transpose(0, 1)
            code = torch.baddbmm(self.biases[number].unsqueeze(1), hops, self.weights[number])
            codes.append(code.transpose(0, 1).flatten(1))
        return codes[0] if len(codes) == 1 else torch.cat(codes, dim=1)

    def _multiply_mixed(self, rows: MixedRows) -> Tensor:
        """Return the results of wide rows with sparse hops, each of which has a product of its own."""
        dense = [width for hop, width in enumerate(rows.widths) if hop not in rows.sparse]
        parts = iter(torch.split(rows.matrix, dense, dim=1))
        codes = [
            rows.sparse[hop] @ matrix + bias if hop in rows.sparse else torch.addmm(bias, next(parts), matrix)
            for hop, (matrix, bias) in enumerate(self.maps())
        ]
        return torch.cat(codes, dim=1)

    def maps(self) -> list[tuple[Tensor, Tensor]]:
        """Return matrix and bias of each hop."""
        matrices = [matrix for weight in self.weights for matrix in weight.unbind()]
        return list(zip(matrices, [vector for bias in self.biases for vector in bias.unbind()], strict=True))

    @property
    def widths(self) -> list[int]:
        """The columns of each hop."""
        return [width for width, count in self.runs for _ in range(count)]

    @torch.no_grad()
    def fuse(self, norm: nn.BatchNorm1d) -> None:
        """Take over what a batch norm that follows does in evaluation."""
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        shift = norm.bias - norm.running_mean * scale
        first = 0
        for weight, bias in zip(self.weights, self.biases, strict=True):
            own = slice(first, first + bias.numel())
            weight *= scale[own].view_as(bias).unsqueeze(1)
            bias.mul_(scale[own].view_as(bias)).add_(shift[own].view_as(bias))
            first = own.stop

    def separate(self) -> "SeparateLinear":
        """Return the same map as one product per hop."""
        return SeparateLinear(*zip(*self.maps(), strict=True))


class SeparateLinear(nn.Module):
    """A :class:`HopLinear` of one product per hop, whose matrices can be quantised column by column."""

    def __init__(self, matrices: Sequence[Tensor], biases: Sequence[Tensor]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*matrix.shape) for matrix in matrices)
        for layer, matrix, bias in zip(self.layers, matrices, biases, strict=True):
            layer.load_state_dict({"weight": matrix.T, "bias": bias})

    def forward(self, rows: Tensor) -> Tensor:
        """Return the wide rows of the results."""
        widths = [layer.in_features for layer in self.layers]
        hops = torch.split(rows, widths, dim=1)  # type: ignore[arg-type]
        return torch.cat([layer(hop) for layer, hop in zip(self.layers, hops, strict=True)], dim=1)


def separate_hops(network: nn.Module) -> None:
    """Replace each :class:`HopLinear` of a network, in place, by one product per hop."""
    for parent in list(network.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, HopLinear):
                setattr(parent, name, child.separate())


class HopPReLU(nn.Module):
    """PReLU with one slope per hop, on wide rows."""

    def __init__(self, hops: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((hops,), 0.25))

    def forward(self, rows: Tensor) -> Tensor:
        """Return the rows with their negative values scaled."""
        slopes = self.weight.unsqueeze(1).expand(-1, rows.shape[1] // len(self.weight)).reshape(-1)
        return prelu(rows, slopes)


class HopMLP(nn.Sequential):
    """Layers of [HopLinear, BatchNorm, activation, Dropout]: an MLP of its own for each hop.

    A layer is one operation for all hops, unless the batch is so large that its activations leave the caches between
    two operations: then one hop follows the other through all layers, with other random numbers of dropout.
    """

    def forward(self, rows: WideRows) -> Tensor:
        """Return the wide rows of the results."""
        first = next(iter(self), None)
        if self.training and isinstance(rows, Tensor) and isinstance(first, HopLinear) and not is_compiling():
            units = sum(bias.numel() for bias in first.biases)
            if rows.device.type == "cpu" and len(rows) * units >= LARGE:
                return self._hop_by_hop(torch.split(rows, first.widths, dim=1))
        outputs: Tensor = super().forward(rows)  # type: ignore[no-untyped-call]
        return outputs

    def _hop_by_hop(self, hops: Sequence[Tensor]) -> Tensor:
        layers = [_functions(module, len(hops)) for module in self]
        codes = []
        for hop, code in enumerate(hops):
            for functions in layers:
                code = functions[hop](code)
            codes.append(code)
        return torch.cat(codes, dim=1)


def _functions(module: nn.Module, hops: int) -> list[Callable[[Tensor], Tensor]]:
    """Return what a layer does with each hop."""
    if isinstance(module, HopLinear):
        return [partial(_affine, matrix, bias) for matrix, bias in module.maps()]
    if isinstance(module, HopPReLU):
        return [partial(prelu, weight=slope) for slope in module.weight.chunk(hops)]
    if not isinstance(module, nn.BatchNorm1d):
        return [module] * hops
    norm: Any = module
    norm.num_batches_tracked.add_(1)
    parts = (each.chunk(hops) for each in (norm.running_mean, norm.running_var, norm.weight, norm.bias))
    return [partial(_normalise, norm, own) for own in zip(*parts, strict=True)]


def _normalise(norm: Any, own: Sequence[Tensor], rows: Tensor) -> Tensor:
    """Apply the batch norm of one hop, whose statistics and parameters are parts of those of all hops."""
    mean, variance, weight, bias = own
    return batch_norm(rows, mean, variance, weight, bias, True, norm.momentum, norm.eps)


def _affine(matrix: Tensor, bias: Tensor, rows: Tensor) -> Tensor:
    return torch.addmm(bias, rows, matrix)


def activation_of(name: Activation) -> nn.Module:
    """Return an activation with the same slope for all columns."""
    return nn.ReLU() if name == "relu" else nn.PReLU()


def mlp(
    inputs: int, units: int, layers: int, dropout: float, batch_norm: bool, activation: Activation = "relu"
) -> nn.Sequential:
    """Build ``layers`` × [Linear, BatchNorm, activation, Dropout]."""
    modules: list[nn.Module] = []
    for layer in range(layers):
        modules.append(nn.Linear(units if layer else inputs, units))
        modules += [nn.BatchNorm1d(units)] if batch_norm else []
        modules += [activation_of(activation), nn.Dropout(dropout)]
    return nn.Sequential(*modules)


def hop_mlp(
    widths: list[int], units: int, layers: int, dropout: float, batch_norm: bool, activation: Activation = "relu"
) -> HopMLP:
    """Build ``layers`` × [HopLinear, BatchNorm, activation, Dropout]: an MLP of its own for each hop."""
    branches = [[nn.Linear(units if layer else width, units) for layer in range(layers)] for width in widths]
    modules: list[nn.Module] = []
    hops = len(widths)
    for linears in zip(*branches, strict=True):
        modules.append(HopLinear(linears))
        modules += [nn.BatchNorm1d(hops * units)] if batch_norm else []
        modules += [nn.ReLU() if activation == "relu" else HopPReLU(hops), nn.Dropout(dropout)]
    return HopMLP(*modules)


class EqualColumns(nn.Module):
    """Hops as tokens, (rows, hops, columns): one of other columns than the first is projected to as many."""

    def __init__(self, widths: list[int]) -> None:
        super().__init__()
        self.widths = widths
        others = {str(hop): width for hop, width in enumerate(widths) if width != widths[0]}
        self.projections = nn.ModuleDict({hop: nn.Linear(width, widths[0]) for hop, width in others.items()})

    def forward(self, rows: Tensor) -> Tensor:
        """Return the tokens."""
        if not self.projections:
            return torch.unflatten(rows, 1, (len(self.widths), self.widths[0]))
        hops = list(torch.split(rows, self.widths, dim=1))
        for hop, projection in self.projections.items():
            hops[int(hop)] = projection(hops[int(hop)])
        return torch.stack(hops, dim=1)
