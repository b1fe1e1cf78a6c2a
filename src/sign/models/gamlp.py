"""GAMLP: weights of the hops of each node, from all hops or from those before (Zhang et al., arXiv 2206.04355)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sign.models.architecture import Architecture, HopColumns
from sign.validation import Count, Power, Probability

if TYPE_CHECKING:
    from sign.models.networks.gamlp import GAMLPNetwork


@dataclass(frozen=True)
class GAMLP(Architecture):
    r"""A weighted sum of the hops, whose weights depend on the node, and an MLP.

    .. math::
        Z = \sum_k α_k H_k, \quad α = \mathrm{softmax}_k\,s_k, \quad s_k = δ(w^⊤[E_k | H_k] + b), \quad
        Y = \mathrm{MLP}(\mathrm{Dropout}(\mathrm{PReLU}(Z + H_0 R)))

    ==============  ==================================================================================
    ``attention``   reference
    ==============  ==================================================================================
    ``jk``          :math:`E_k = \mathrm{Dropout}(\mathrm{PReLU}(\mathrm{MLP}([H_0 | … | H_r])))`, the same for all
    ``recursive``   :math:`E_0 = H_0`, :math:`E_k = \sum_{j<k} β_j H_j` with :math:`β = \mathrm{softmax}_{j<k}\,s_j`
    ==============  ==================================================================================

    :math:`H_k` is the hop itself, or with ``layers`` an MLP of it. δ, the ``score``, is a sigmoid or LeakyReLU.
    ``residual`` adds :math:`H_0 R`. The MLPs are layers of [Linear, BatchNorm, PReLU, Dropout]. The authors' code has
    residual layers in its MLPs, fixes two of them per hop, and adds an MLP of the diffused labels to the outputs;
    here labels are hops like others. Without ``layers``, a hop of other columns than the first is projected.
    """

    head = "gamlp"
    attention: Literal["jk", "recursive"]
    score: Literal["sigmoid", "leaky_relu"]
    units: Count
    layers: Power
    classification_layers: Count
    residual: bool
    dropout: Probability
    input_dropout: Probability
    attention_dropout: Probability
    batch_norm: bool

    def network(self, hops: HopColumns, classes: int) -> "GAMLPNetwork":
        """Return the network."""
        from sign.models.networks.gamlp import GAMLPNetwork

        return GAMLPNetwork(hops, classes, self)

    @property
    def takes_sparse_hops(self) -> bool:
        """Whether each hop has a layer of its own."""
        return self.layers > 0

    @property
    def needs_two_rows(self) -> bool:
        """Whether there is batch norm."""
        return self.batch_norm
