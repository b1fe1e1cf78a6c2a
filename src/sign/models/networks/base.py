"""What all networks on rows of hops have in common."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from sign.models.architecture import FEATURES, HopColumns
from sign.models.networks.sparse import WideRows


class HopNetwork(nn.Module):
    """A network from wide rows, which hold the rows of all hops side by side, to logits.

    Parameters
    ----------
    hops
        The hops in the order of the columns, with the number of columns of each.

    Attributes
    ----------
    names, widths
        The hops.
    focal
        The position of the features of the node itself, or of the first hop if they are not among the hops.
    output
        The last linear layer, which turns an embedding into logits.
    """

    output: nn.Module

    def __init__(self, hops: HopColumns) -> None:
        super().__init__()
        self.names, self.widths = list(hops), list(hops.values())
        self.focal = self.names.index(FEATURES) if FEATURES in hops else 0

    def forward(self, rows: WideRows) -> Tensor:
        """Return the logits of wide rows."""
        logits: Tensor = self.output(self.embed(rows))
        return logits

    def embed(self, rows: Any) -> Tensor:
        """Return the last hidden layer, which the output layer reads."""
        raise NotImplementedError

    def split(self, rows: Tensor) -> Sequence[Tensor]:
        """Return the rows of each hop, as views of wide rows."""
        return torch.split(rows, self.widths, dim=1)
