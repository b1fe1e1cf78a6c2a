"""What a training or evaluation step reads."""

from typing import NamedTuple

from torch import Tensor


class Batch(NamedTuple):
    """Rows with their labels, and the number of rows of the batch over all ranks."""

    rows: Tensor
    labels: Tensor
    total: int
