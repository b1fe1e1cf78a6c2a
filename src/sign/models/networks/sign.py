"""The network of SIGN(p,s,t), of as few operations as it has layers."""

import torch
from torch import Tensor, nn

from sign.errors import SignError
from sign.models.architecture import HopColumns
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import hop_mlp, mlp
from sign.models.networks.sparse import Dropout, WideRows
from sign.models.sign import SIGN


class SIGNNetwork(HopNetwork):
    """The network that :class:`sign.models.sign.SIGN` describes."""

    def __init__(self, hops: HopColumns, classes: int, architecture: SIGN) -> None:
        super().__init__(hops)
        a = architecture
        widths = [a.inception_units] * len(hops) if a.inception_layers else self.widths
        if a.aggregation != "concat" and len(set(widths)) > 1:
            shown = ", ".join(f"{name} {columns}" for name, columns in hops.items())
            raise SignError(
                f"model.aggregation={a.aggregation}: the hops have different numbers of columns ({shown}); "
                "use model.inception_layers=1"
            )
        self.aggregation = a.aggregation
        self.input_dropout = Dropout(a.input_dropout)
        regularisation = a.dropout, a.batch_norm, a.activation
        self.branches = hop_mlp(self.widths, a.inception_units, a.inception_layers, *regularisation)
        wide = sum(widths) if a.aggregation == "concat" else widths[0]
        self.classifier = mlp(wide, a.classification_units, a.classification_layers, *regularisation)
        self.output = nn.Linear(a.classification_units if a.classification_layers else wide, classes)

    def embed(self, rows: WideRows) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        codes: Tensor = self.branches(self.input_dropout(rows))
        embedding: Tensor = self.classifier(self._aggregate(codes))
        return embedding

    def _aggregate(self, codes: Tensor) -> Tensor:
        if self.aggregation == "concat":
            return codes
        hops = torch.unflatten(codes, 1, (len(self.names), -1))
        if self.aggregation == "max":
            return torch.amax(hops, dim=1)
        return torch.mean(hops, dim=1) if self.aggregation == "mean" else torch.sum(hops, dim=1)
