"""The network of NAGphormer."""

from torch import Tensor, nn

from sign.models.architecture import HopColumns
from sign.models.nagphormer import NAGphormer
from sign.models.networks.attention import FocalReadout, SelfAttention
from sign.models.networks.base import HopNetwork
from sign.models.networks.layers import EqualColumns


class EncoderLayer(nn.Module):
    """Attention and a feed-forward network, each with normalisation before it and a skip connection around it."""

    def __init__(self, architecture: NAGphormer) -> None:
        super().__init__()
        a = architecture
        self.norm = nn.LayerNorm(a.units)
        self.attention = SelfAttention(a.units, a.heads, a.attention_dropout)
        self.dropout = nn.Dropout(a.dropout)
        inner = 2 * a.units
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(a.units),
            nn.Linear(a.units, inner),
            nn.GELU(),
            nn.Linear(inner, a.units),
            nn.Dropout(a.dropout),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the tokens of the next layer."""
        (attended,) = self.attention(self.norm(tokens))
        tokens = tokens + self.dropout(attended)
        following: Tensor = tokens + self.feed_forward(tokens)
        return following


class NAGphormerNetwork(HopNetwork):
    """The network that :class:`sign.models.nagphormer.NAGphormer` describes."""

    def __init__(self, hops: HopColumns, classes: int, architecture: NAGphormer) -> None:
        super().__init__(hops)
        a = architecture
        self.input_dropout = nn.Dropout(a.input_dropout)
        self.tokens = nn.Sequential(EqualColumns(self.widths), nn.Linear(self.widths[0], a.units))
        self.layers = nn.Sequential(*(EncoderLayer(a) for _ in range(a.layers)), nn.LayerNorm(a.units))
        self.readout = FocalReadout(a.units, self.focal)
        half = max(a.units // 2, 1)
        self.classifier = nn.Sequential(nn.Linear(a.units, half), nn.ReLU())
        self.output = nn.Linear(half, classes)

    def embed(self, rows: Tensor) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        tokens = self.layers(self.tokens(self.input_dropout(rows)))
        embedding: Tensor = self.classifier(self.readout(tokens))
        return embedding
