"""A learned weighted sum of hops: filters in the manner of GPR-GNN and ChebNetII."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from sign.models.architecture import Architecture, HopColumns
from sign.validation import Count, Power, Probability, Range

if TYPE_CHECKING:
    from sign.models.networks.gpr import GPRNetwork


@dataclass(frozen=True)
class GPR(Architecture):
    r"""A polynomial of each operator with learned coefficients, and an MLP: :math:`Y = \mathrm{MLP}(\sum_k γ_k B_k X)`.

    ================  ==============================================================================================
    ``coefficients``  γ
    ================  ==============================================================================================
    ``free``          learned as they are, from :math:`γ_k = α(1-α)^k`, as in GPR-GNN (Chien et al., arXiv 2006.07988)
    ``interpolated``  :math:`γ_k = \frac{2}{K+1}\sum_j θ_j T_k(x_j)`, half of it for k = 0, at the Chebyshev nodes
                      :math:`x_j = \cos\frac{(j + 1/2)\,π}{K + 1}`, from θ = 1 and with θ ≥ 0, as in ChebNetII (He et
                      al., arXiv 2202.03580); for ``operator=chebyshev``, whose filter then has the value θ at x
    ================  ==============================================================================================

    Each operator has coefficients of its own, of which those for k = 0 act on X. The papers propagate the outputs of
    their MLP; here, as in their versions for large graphs, hops are computed once and the MLP follows, with
    ``layers`` × [Linear, BatchNorm, ReLU, Dropout] and a Linear. Hops of other columns than the first are projected.
    """

    head = "gpr"
    coefficients: Literal["free", "interpolated"]
    alpha: Annotated[float, Range(0, 1)]
    units: Count
    layers: Power
    dropout: Probability
    input_dropout: Probability
    batch_norm: bool

    def network(self, hops: HopColumns, classes: int) -> "GPRNetwork":
        """Return the network."""
        from sign.models.networks.gpr import GPRNetwork

        return GPRNetwork(hops, classes, self)

    @property
    def needs_two_rows(self) -> bool:
        """Whether there is batch norm."""
        return self.batch_norm
