"""The network of SAGN."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from sign.models.architecture import HopColumns
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import HopLinear, hop_mlp, mlp
from sign.models.sagn import SAGN

SLOPE = 0.2  # of the attention scores, as in GAT


class SAGNNetwork(HopNetwork):
    """The network that :class:`sign.models.sagn.SAGN` describes."""

    def __init__(self, hops: HopColumns, classes: int, architecture: SAGN) -> None:
        super().__init__(hops)
        a = architecture
        self.heads = a.heads
        self.input_dropout = nn.Dropout(a.input_dropout)
        hidden = [a.units] * len(hops) if a.layers > 1 else self.widths
        self.encoders = nn.Sequential(
            *hop_mlp(self.widths, a.units, a.layers - 1, a.dropout, a.batch_norm),
            HopLinear([nn.Linear(width, a.heads * a.units) for width in hidden]),
        )
        self.residual = nn.Linear(self.widths[self.focal], a.heads * a.units, bias=False)
        self.to_hop, self.to_own = (nn.Parameter(torch.empty(a.heads, a.units)) for _ in range(2))
        nn.init.xavier_normal_(self.to_hop)
        nn.init.xavier_normal_(self.to_own)
        self.attention_dropout = nn.Dropout(a.attention_dropout)
        norm = [nn.BatchNorm1d(a.units)] if a.batch_norm else []
        self.finish = nn.Sequential(*norm, nn.ReLU(), nn.Dropout(a.dropout))
        self.classifier = mlp(a.units, a.units, a.classification_layers, a.dropout, a.batch_norm)
        self.output = nn.Linear(a.units, classes)

    def embed(self, rows: Tensor) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        rows = self.input_dropout(rows)
        codes = self.encoders(rows).unflatten(1, (len(self.names), self.heads, -1))
        scores = (codes * self.to_hop).sum(-1) + (codes[:, self.focal] * self.to_own).sum(-1).unsqueeze(1)
        weights = self.attention_dropout(leaky_relu(scores, SLOPE).softmax(dim=1))
        mixed = (codes * weights.unsqueeze(-1)).sum(dim=1)
        mixed = mixed + self.residual(self.split(rows)[self.focal]).unflatten(1, (self.heads, -1))
        embedding: Tensor = self.classifier(self.finish(mixed.mean(dim=1)))
        return embedding
