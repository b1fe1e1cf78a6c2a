"""What a training or evaluation step reads."""

from typing import NamedTuple

from torch import Tensor

from sign.models.networks.sparse import WideRows


class Batch(NamedTuple):
    """Rows with their labels, and the number of rows of the batch over all ranks."""

    rows: WideRows
    labels: Tensor
    total: int
