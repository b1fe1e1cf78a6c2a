"""Attention among the hops of a node, which are the tokens of a sequence: (rows, hops, columns)."""

import torch
from torch import Tensor, nn


class SelfAttention(nn.Module):
    r"""Multi-head attention :math:`\mathrm{softmax}(QK^⊤/\sqrt d)\,V` of all hops to all hops, projected.

    Queries, keys and values, and ``extra`` linear maps of the tokens that the caller asks for, are one product.
    """

    def __init__(self, units: int, heads: int, dropout: float, extra: int = 0) -> None:
        super().__init__()
        self.units, self.heads, self.extra = units, heads, extra
        self.inputs = nn.Linear(units, (3 + extra) * units)
        self.dropout = nn.Dropout(dropout)
        self.projection = nn.Linear(units, units)

    def forward(self, tokens: Tensor) -> list[Tensor]:
        """Return the outputs of the attention, then the extra maps of the tokens."""
        queries, keys, values, *others = self.inputs(tokens).split(self.units, dim=-1)
        queries, keys, values = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (queries, keys, values)
        )
        scores = queries @ keys.transpose(-1, -2) * (self.units // self.heads) ** -0.5
        mixed = self.dropout(scores.softmax(dim=-1)) @ values
        return [self.projection(mixed.transpose(1, 2).flatten(2)), *others]


class FocalReadout(nn.Module):
    r"""A node's own token and the others, :math:`t_f + \sum_{k≠f} α_k t_k`, weighted by a softmax of :math:`w^⊤ t_k`.

    ``focal`` is the position f of the node's own token.
    """

    def __init__(self, units: int, focal: int) -> None:
        super().__init__()
        self.focal = focal
        self.score = nn.Linear(units, 1, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return one row per node."""
        own = tokens[:, self.focal]
        if tokens.shape[1] == 1:
            return own
        others = torch.cat([tokens[:, : self.focal], tokens[:, self.focal + 1 :]], dim=1)
        weights: Tensor = self.score(others).softmax(dim=1)
        return own + (weights * others).sum(dim=1)
