"""The network of SIGN(p,s,t) in plain torch: from rows to logits, without a graph."""

from torch import Tensor, cat, nn

from sign.models.architecture import Architecture

ACTIVATIONS = {"relu": nn.ReLU, "prelu": nn.PReLU}


class SIGN(nn.Module):
    r"""The network of the paper.

    .. math::
        Z = [\,\mathrm{MLP}_0(X) \mid \mathrm{MLP}_1(A_1 X) \mid \dots \mid \mathrm{MLP}_r(A_r X)\,],
        \qquad Y = \mathrm{MLP}_Ω(Z)

    A branch is ``inception_layers`` × [Linear, BatchNorm, activation, Dropout]; the concatenation of the branches is
    followed by ``classification_layers`` × the same and a Linear.

    Parameters
    ----------
    features
        Columns of one hop array.
    branches
        Number of hop arrays.
    classes
        Columns of the logits.
    architecture
        Layers, units, activation, dropout and batch norm.
    """

    def __init__(self, features: int, branches: int, classes: int, architecture: Architecture) -> None:
        super().__init__()
        a = architecture
        self.features = features
        self.input_dropout = nn.Dropout(a.input_dropout)
        self.branches = nn.ModuleList(mlp(features, a.inception_units, a.inception_layers, a) for _ in range(branches))
        wide = branches * (a.inception_units if a.inception_layers else features)
        last = a.classification_units if a.classification_layers else wide
        self.classifier = mlp(wide, a.classification_units, a.classification_layers, a)
        self.output = nn.Linear(last, classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the logits of wide rows, which hold the rows of all hops side by side."""
        logits: Tensor = self.output(self.embed(rows))
        return logits

    def embed(self, rows: Tensor) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        hops = self.input_dropout(rows).split(self.features, dim=1)
        codes = [branch(hop) for branch, hop in zip(self.branches, hops, strict=True)]
        embedding: Tensor = self.classifier(cat(codes, dim=1))
        return embedding


def mlp(inputs: int, units: int, layers: int, architecture: Architecture) -> nn.Sequential:
    """Build ``layers`` × [Linear, BatchNorm, activation, Dropout]."""
    modules: list[nn.Module] = []
    for layer in range(layers):
        modules.append(nn.Linear(units if layer else inputs, units))
        if architecture.batch_norm:
            modules.append(nn.BatchNorm1d(units))
        modules += [ACTIVATIONS[architecture.activation](), nn.Dropout(architecture.dropout)]
    return nn.Sequential(*modules)
