"""The network of HOGA."""

from torch import Tensor, nn

from sign.models.architecture import HopColumns
from sign.models.hoga import HOGA
from sign.models.networks.attention import FocalReadout, SelfAttention
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import EqualColumns


class GatedAttention(nn.Module):
    """Attention times a gate, [LayerNorm, ReLU, Dropout]; the gate is a linear map of the tokens."""

    def __init__(self, architecture: HOGA) -> None:
        super().__init__()
        a = architecture
        self.attention = SelfAttention(a.units, a.heads, a.attention_dropout, extra=1)
        self.finish = nn.Sequential(nn.LayerNorm(a.units), nn.ReLU(), nn.Dropout(a.dropout))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens of the next layer."""
        attended, gates = self.attention(tokens)
        following: Tensor = self.finish(gates * attended)
        return following


class HOGANetwork(HopNetwork):
    """The network that :class:`sign.models.hoga.HOGA` describes."""

    def __init__(self, hops: HopColumns, classes: int, architecture: HOGA) -> None:
        super().__init__(hops)
        a = architecture
        self.input_dropout = nn.Dropout(a.input_dropout)
        self.tokens = nn.Sequential(EqualColumns(self.widths), nn.Linear(self.widths[0], a.units, bias=False))
        self.layers = nn.Sequential(*(GatedAttention(a) for _ in range(a.layers)))
        self.readout = FocalReadout(a.units, self.focal)
        norm = [nn.BatchNorm1d(a.units)] if a.batch_norm else []
        hidden = nn.Linear(a.units, a.units, bias=False)
        self.classifier = nn.Sequential(hidden, nn.ReLU(), *norm, nn.Dropout(a.dropout))
        self.output = nn.Linear(a.units, classes)

    def embed(self, rows: Tensor) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        tokens = self.layers(self.tokens(self.input_dropout(rows)))
        embedding: Tensor = self.classifier(self.readout(tokens))
        return embedding
