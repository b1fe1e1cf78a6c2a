"""NAGphormer: a transformer on the hops of a node (Chen et al., arXiv 2206.04910)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sign.errors import FieldError
from sign.models.architecture import Architecture, HopColumns
from sign.validation import Count, Probability

if TYPE_CHECKING:
    from sign.models.networks.nagphormer import NAGphormerNetwork


@dataclass(frozen=True)
class NAGphormer(Architecture):
    r"""Hops are the tokens of a transformer with normalisation before each part.

    .. math::
        T_0 = [X W + b | B_1 X W + b | …], \quad T' = T + \mathrm{MHA}(\mathrm{LN}(T)), \quad
        T_{i+1} = T' + \mathrm{FFN}(\mathrm{LN}(T')), \\
        Z = t_0 + \sum_{k>0} α_k t_k, \quad α = \mathrm{softmax}_k\,w^⊤ t_k \quad (t = \mathrm{LN}(T)), \quad
        Y = \mathrm{ReLU}(Z V + c)\,U + d

    FFN is Linear to 2 · ``units``, GELU and Linear; V halves the units. Hops of other columns than the first are
    projected. Initialisation is PyTorch's, not the authors' N(0, 0.02² / layers). The authors' α reads t_0 as well,
    which a softmax over k cancels, and append their Laplacian eigenvectors to the features before diffusion; here
    ``model.positions`` makes them a token of their own.
    """

    head = "nagphormer"
    units: Count
    layers: Count
    heads: Count
    dropout: Probability
    input_dropout: Probability
    attention_dropout: Probability

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.units % self.heads:
            raise FieldError("units", self.units, f"must be a multiple of heads, {self.heads}")

    def network(self, hops: HopColumns, classes: int) -> "NAGphormerNetwork":
        """Return the network."""
        from sign.models.networks.nagphormer import NAGphormerNetwork

        return NAGphormerNetwork(hops, classes, self)
