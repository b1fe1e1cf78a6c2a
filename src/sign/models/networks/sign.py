"""The network of SIGN(p,s,t)."""

from torch import Tensor, cat, nn

from sign.models.architecture import HopColumns
from sign.models.networks.base import HopNetwork
from sign.models.sign import SIGN

ACTIVATIONS = {"relu": nn.ReLU, "prelu": nn.PReLU}


class SIGNNetwork(HopNetwork):
    """The network that :class:`sign.models.sign.SIGN` describes."""

    def __init__(self, hops: HopColumns, classes: int, architecture: SIGN) -> None:
        super().__init__(hops)
        a = architecture
        self.input_dropout = nn.Dropout(a.input_dropout)
        self.branches = nn.ModuleList(mlp(columns, a.inception_units, a.inception_layers, a) for columns in self.widths)
        wide = len(hops) * a.inception_units if a.inception_layers else sum(self.widths)
        last = a.classification_units if a.classification_layers else wide
        self.classifier = mlp(wide, a.classification_units, a.classification_layers, a)
        self.output = nn.Linear(last, classes)

    def embed(self, rows: Tensor) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        hops = self.split(self.input_dropout(rows))
        codes = [branch(hop) for branch, hop in zip(self.branches, hops, strict=True)]
        embedding: Tensor = self.classifier(cat(codes, dim=1))
        return embedding


def mlp(inputs: int, units: int, layers: int, architecture: SIGN) -> nn.Sequential:
    """Build ``layers`` × [Linear, BatchNorm, activation, Dropout]."""
    modules: list[nn.Module] = []
    for layer in range(layers):
        modules.append(nn.Linear(units if layer else inputs, units))
        if architecture.batch_norm:
            modules.append(nn.BatchNorm1d(units))
        modules += [ACTIVATIONS[architecture.activation](), nn.Dropout(architecture.dropout)]
    return nn.Sequential(*modules)
