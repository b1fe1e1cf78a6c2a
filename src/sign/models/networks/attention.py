"""Attention among the hops of a node, which are the tokens of a sequence: (rows, hops, columns)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, scaled_dot_product_attention


class SelfAttention(nn.Module):
    r"""Multi-head attention :math:`\mathrm{softmax}(QK^⊤/\sqrt d)\,V` of all hops to all hops, projected.

    Queries, keys and values, and ``extra`` linear maps of the tokens that the caller asks for, are one product. With
    one head, keys and the projection need none of their own: :math:`QK^⊤ = (T W_q W_k^⊤)\,T^⊤` up to terms that the
    softmax cancels, and the values are projected before they are mixed.
    """

    def __init__(self, units: int, heads: int, dropout: float, extra: int = 0) -> None:
        super().__init__()
        self.units, self.heads, self.extra = units, heads, extra
        self.inputs, self.merged = nn.Linear(units, (3 + extra) * units), False
        self.dropout = nn.Dropout(dropout)
        self.projection = nn.Linear(units, units)

    def forward(self, tokens: Tensor) -> list[Tensor]:
        """Return the outputs of the attention, then the extra maps of the tokens."""
        if self.heads == 1:
            merged = self.inputs(tokens) if self.merged else linear(tokens, *self._merged_inputs())
            queries, values, *others = merged.split(self.units, dim=-1)
            return [self._mix(queries, tokens, values) + self.projection.bias, *others]
        queries, keys, values, *others = self.inputs(tokens).split(self.units, dim=-1)
        return [self.projection(self._mix(queries, keys, values)), *others]

    @torch.no_grad()
    def merge(self) -> None:
        """Compute once, for inference, what one head derives from its weights in every step."""
        if self.heads > 1 or self.merged:
            return
        weight, bias = self._merged_inputs()
        self.inputs, self.merged = nn.Linear(self.units, len(weight)), True
        self.inputs.load_state_dict({"weight": weight, "bias": bias})

    def _mix(self, *parts: Tensor) -> Tensor:
        """Return the values that the queries attend to, those of all heads side by side."""
        queries, keys, values = (torch.unflatten(part, -1, (self.heads, -1)).transpose(1, 2) for part in parts)
        dropout = self.dropout.p if self.training else 0.0
        return scaled_dot_product_attention(queries, keys, values, dropout_p=dropout).transpose(1, 2).flatten(2)

    def _merged_inputs(self) -> tuple[Tensor, Tensor]:
        """Return weight and bias of one head: queries in the space of the tokens, projected values, extra maps."""
        to_query, to_key, to_value, *extra = torch.split(self.inputs.weight, self.units)
        query, _, value, *extra_biases = torch.split(self.inputs.bias, self.units)
        projection = self.projection.weight
        weight = torch.cat([to_key.T @ to_query, projection @ to_value, *extra])
        return weight, torch.cat([query @ to_key, projection @ value, *extra_biases])


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
