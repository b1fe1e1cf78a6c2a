"""SAGN: attention over the encoded hops of a node (Sun, Gu and Hu, arXiv 2104.09376)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sign.models.architecture import Architecture, HopColumns
from sign.validation import Count, Power, Probability

if TYPE_CHECKING:
    from sign.models.networks.sagn import SAGNNetwork


@dataclass(frozen=True)
class SAGN(Architecture):
    r"""Hops are encoded one by one and weighted by their attention to the features of the node itself.

    .. math::
        H_k = \mathrm{MLP}_k(B_k X), \quad
        α_k = \mathrm{softmax}_k\,\mathrm{LeakyReLU}_{0.2}(⟨H_k, l⟩ + ⟨H_0, r⟩), \quad
        Z = \sum_k α_k H_k + X R, \quad Y = \mathrm{MLP}(\mathrm{mean}_{\text{heads}}\,Z)

    An encoder has ``layers`` linear layers, [BatchNorm, ReLU, Dropout] between them, and ``heads`` × ``units``
    outputs; each head has an attention of its own. Z goes through [BatchNorm, ReLU, Dropout],
    ``classification_layers`` × [Linear, BatchNorm, ReLU, Dropout] and a Linear. The authors' code adds an MLP of the
    diffused labels to the outputs and initialises by Xavier's rule; here labels are hops like others, and
    initialisation is PyTorch's.
    """

    head = "sagn"
    units: Count
    layers: Count
    heads: Count
    classification_layers: Power
    dropout: Probability
    input_dropout: Probability
    attention_dropout: Probability
    batch_norm: bool

    def network(self, hops: HopColumns, classes: int) -> "SAGNNetwork":
        """Return the network."""
        from sign.models.networks.sagn import SAGNNetwork

        return SAGNNetwork(hops, classes, self)

    @property
    def needs_two_rows(self) -> bool:
        """Whether there is batch norm."""
        return self.batch_norm
