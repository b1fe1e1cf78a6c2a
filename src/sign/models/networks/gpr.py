"""The network of the learned weighted sum of hops."""

import math

import torch
from torch import Tensor, nn

from sign.models.architecture import FEATURES, HopColumns, power_of
from sign.models.gpr import GPR
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import EqualColumns, mlp


class GPRNetwork(HopNetwork):
    """The network that :class:`sign.models.gpr.GPR` describes."""

    basis: Tensor

    def __init__(self, hops: HopColumns, classes: int, architecture: GPR) -> None:
        super().__init__(hops)
        a = architecture
        self.interpolated = a.coefficients == "interpolated"
        self.input_dropout = nn.Dropout(a.input_dropout)
        self.tokens = EqualColumns(self.widths)
        basis = interpolation(self.names) if self.interpolated else torch.eye(len(hops))
        start = torch.ones(basis.shape[1]) if self.interpolated else restart_weights(self.names, a.alpha)
        self.register_buffer("basis", basis, persistent=False)
        self.coefficients = nn.Parameter(start)
        self.classifier = mlp(self.widths[0], a.units, a.layers, a.dropout, a.batch_norm)
        self.output = nn.Linear(a.units if a.layers else self.widths[0], classes)

    def embed(self, rows: Tensor) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        values = self.coefficients.relu() if self.interpolated else self.coefficients
        hops = self.tokens(self.input_dropout(rows))
        embedding: Tensor = self.classifier(self.basis @ values @ hops)
        return embedding


def restart_weights(names: list[str], alpha: float) -> Tensor:
    """Return α(1-α)^k for the hop of each name, whose power is k."""
    return torch.tensor([alpha * (1 - alpha) ** power_of(name) for name in names])


def interpolation(names: list[str]) -> Tensor:
    """Return the matrix from the values of each operator's filter at the Chebyshev nodes to the weights of hops."""
    highest: dict[str, int] = {}
    for name in names:
        letter, power = name.rstrip("0123456789"), power_of(name)
        if name != FEATURES:
            highest[letter] = max(highest.get(letter, 0), power)
    blocks = []
    for letter, last in (highest or {FEATURES: 0}).items():
        angles = [(node + 0.5) * math.pi / (last + 1) for node in range(last + 1)]
        block = torch.zeros(len(names), last + 1)
        for row, name in enumerate(names):
            if name == FEATURES or name.rstrip("0123456789") == letter:
                scale = (2 if power_of(name) else 1) / (last + 1)
                block[row] = torch.tensor([scale * math.cos(power_of(name) * angle) for angle in angles])
        blocks.append(block)
    return torch.cat(blocks, dim=1)
