"""HOGA: gated self-attention among the hops of a node (Deng et al., arXiv 2403.01317)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sign.errors import FieldError
from sign.models.architecture import Architecture, HopColumns
from sign.validation import Count, Probability

if TYPE_CHECKING:
    from sign.models.networks.hoga import HOGANetwork


@dataclass(frozen=True)
class HOGA(Architecture):
    r"""Hops are tokens, whose self-attention is gated by the tokens themselves.

    .. math::
        T_0 = [X W | B_1 X W | …], \quad
        T_{i+1} = \mathrm{Dropout}(\mathrm{ReLU}(\mathrm{LayerNorm}(T_i G_i ⊙ \mathrm{MHA}_i(T_i)))), \quad
        Z = t_0 + \sum_{k>0} α_k t_k, \quad α = \mathrm{softmax}_k\,w^⊤ t_k, \\
        Y = \mathrm{Dropout}(\mathrm{BatchNorm}(\mathrm{ReLU}(Z V)))\,U + b

    There are ``layers`` of attention with ``heads`` heads. The authors' α reads t_0 as well, which a softmax over k
    cancels. Hops of other columns than the first have a projection W of
    their own. The authors' code reshapes queries and keys so that heads and tokens mix; here attention is that of
    ``nn.MultiheadAttention``. Their circuits have several outputs; here there is one, with a bias.
    """

    head = "hoga"
    units: Count
    layers: Count
    heads: Count
    dropout: Probability
    input_dropout: Probability
    attention_dropout: Probability
    batch_norm: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units % self.heads:
            raise FieldError("units", self.units, f"must be a multiple of heads, {self.heads}")

    def network(self, hops: HopColumns, classes: int) -> "HOGANetwork":
        """Return the network."""
        from sign.models.networks.hoga import HOGANetwork

        return HOGANetwork(hops, classes, self)

    @property
    def needs_two_rows(self) -> bool:
        """Whether there is batch norm."""
        return self.batch_norm
