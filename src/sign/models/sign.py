"""The head of the paper: a branch per hop, and a classifier on their concatenation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sign.models.architecture import Architecture, HopColumns
from sign.validation import Count, Power, Probability

if TYPE_CHECKING:
    from sign.models.networks.sign import SIGNNetwork


@dataclass(frozen=True)
class SIGN(Architecture):
    r"""The network of the paper.

    .. math::
        Z = [\,\mathrm{MLP}_0(X) \mid \mathrm{MLP}_1(A_1 X) \mid \dots \mid \mathrm{MLP}_r(A_r X)\,],
        \qquad Y = \mathrm{MLP}_Ω(Z)

    A branch is ``inception_layers`` × [Linear, BatchNorm, activation, Dropout]; the concatenation of the branches is
    followed by ``classification_layers`` × the same and a Linear. Other values of ``aggregation`` replace the
    concatenation by the mean, the maximum or the sum of the branches.
    """

    head = "sign"
    inception_layers: Power
    inception_units: Count
    classification_layers: Power
    classification_units: Count
    activation: Literal["relu", "prelu"]
    dropout: Probability
    input_dropout: Probability
    batch_norm: bool
    aggregation: Literal["concat", "mean", "max", "sum"] = "concat"

    def network(self, hops: HopColumns, classes: int) -> "SIGNNetwork":
        """Return the network."""
        from sign.models.networks.sign import SIGNNetwork

        return SIGNNetwork(hops, classes, self)

    @property
    def takes_sparse_hops(self) -> bool:
        """Whether each hop has a layer of its own."""
        return self.inception_layers > 0

    @property
    def needs_two_rows(self) -> bool:
        """Whether there is batch norm."""
        return self.batch_norm
