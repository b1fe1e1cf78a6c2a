"""The network of GAMLP."""

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu

from sign.models.architecture import HopColumns
from sign.models.gamlp import GAMLP
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import EqualColumns, hop_mlp, mlp
from sign.models.networks.sparse import Dropout, WideRows

SLOPE = 0.2  # of LeakyReLU in the scores


class GAMLPNetwork(HopNetwork):
    """The network that :class:`sign.models.gamlp.GAMLP` describes."""

    def __init__(self, hops: HopColumns, classes: int, architecture: GAMLP) -> None:
        super().__init__(hops)
        a = architecture
        regularisation = a.dropout, a.batch_norm
        self.recursive, self.sigmoid = a.attention == "recursive", a.score == "sigmoid"
        self.input_dropout = Dropout(a.input_dropout)
        columns = a.units if a.layers else self.widths[0]
        self.encoders: nn.Module = EqualColumns(self.widths)
        if a.layers:
            encoders = hop_mlp(self.widths, a.units, a.layers, *regularisation, "prelu")
            self.encoders = nn.Sequential(*encoders, nn.Unflatten(1, (len(hops), a.units)))
        if not self.recursive:
            self.reference = mlp(len(hops) * columns, a.units, 1, *regularisation, "prelu")
        self.score = nn.Linear((columns if self.recursive else a.units) + columns, 1)
        self.attention_dropout = nn.Dropout(a.attention_dropout)
        self.residual = nn.Linear(columns, columns, bias=False) if a.residual else None
        self.finish = nn.Sequential(nn.PReLU(), nn.Dropout(a.dropout))
        self.classifier = mlp(columns, a.units, a.classification_layers, *regularisation, "prelu")
        self.output = nn.Linear(a.units, classes)

    def embed(self, rows: WideRows) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        hops = self.encoders(self.input_dropout(rows))
        scores = self._recursive(hops) if self.recursive else self._jk(hops)
        weights = self.attention_dropout(scores.softmax(dim=1))
        mixed = (hops * weights.unsqueeze(-1)).sum(dim=1)
        if self.residual is not None:
            mixed = mixed + self.residual(hops[:, self.focal])
        embedding: Tensor = self.classifier(self.finish(mixed))
        return embedding

    def _jk(self, hops: Tensor) -> Tensor:
        columns = hops.shape[-1]
        of_reference, of_hop = torch.split(self.score.weight[0], [self.score.in_features - columns, columns])
        return self._act((self.reference(hops.flatten(1)) @ of_reference).unsqueeze(1) + hops @ of_hop)

    def _recursive(self, hops: Tensor) -> Tensor:
        """The scores in order; products with all hops are computed at once, and history is summed in them."""
        of_history, of_hop = self.score.weight[0].chunk(2)
        own, in_history = hops @ of_hop, hops @ of_history  # w^T sum(β H) = sum(β w^T H)
        scores = [self._act(in_history[:, 0] + own[:, 0])]
        for hop in range(1, hops.shape[1]):
            before = torch.stack(scores, dim=1).softmax(dim=1)
            history = (before * in_history[:, :hop]).sum(dim=1)
            scores.append(self._act(history + own[:, hop]))
        return torch.stack(scores, dim=1)

    def _act(self, scores: Tensor) -> Tensor:
        scores = scores + self.score.bias
        return scores.sigmoid() if self.sigmoid else leaky_relu(scores, SLOPE)
