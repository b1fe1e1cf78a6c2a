"""Layer-wise importance sampling (FastGCN, arXiv 1801.10247)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Block, Integers, LayeredBatch
from sign.baselines.samplers.block_kernels import column_squares, select_columns
from sign.baselines.samplers.neighbour import check_layers
from sign.baselines.samplers.streams import draw_categories, stream
from sign.validation import Count


@dataclass(frozen=True, eq=False)
class ImportanceBatch(LayeredBatch):
    """Layers whose ``nodes[l]``, below the targets, are distinct and sorted: how often, and how likely, each was drawn.

    ``draws[l]`` and ``probabilities[l]`` belong to ``nodes[l]``.
    """

    draws: tuple[Integers, ...]
    probabilities: tuple[NDArray[np.float64], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class FastGCNSampler(TargetSampler[ImportanceBatch]):
    r"""Each layer is drawn independently of the others, from all nodes.

    ``sizes`` are the numbers of draws t per layer, from below the targets down to the inputs. As in the paper, draws
    are independent and with replacement, with probability

    .. math:: q(v) = \|A_{:,v}\|^2 \Big/ \sum_w \|A_{:,w}\|^2,

    and :math:`\frac{1}{t} \sum_{i=1}^t a_{u v_i} h_{v_i} / q(v_i)` is an unbiased estimate of row u of A h. The
    official code instead draws without replacement among the neighbours of the layer above. A node that is drawn
    several times is one column, with the sum of its weights.
    """

    sizes: list[Count]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("sizes", self.sizes)

    @cached_property
    def cumulative(self) -> NDArray[np.float64]:
        """Cumulative probabilities of the nodes."""
        squares = column_squares(self.adjacency.indptr, self.adjacency.indices, self.adjacency.weights)
        sums: NDArray[np.float64] = np.cumsum(squares / squares.sum())
        return sums

    def probabilities(self, nodes: Integers) -> NDArray[np.float64]:
        """Return q of some nodes."""
        before = np.where(nodes > 0, self.cumulative[nodes - 1], 0.0)
        return (self.cumulative[nodes] - before) / self.cumulative[-1]

    def sample(self, targets: Integers, key: np.uint64) -> ImportanceBatch:
        """Return the layers below some nodes."""
        matrix, number = self.adjacency, self.numbers.array()
        nodes, blocks, draws, probabilities = [targets], [], [], []
        for layer, size in enumerate(self.sizes):
            drawn = draw_categories(self.cumulative, size, stream(key, layer))
            columns, counts = np.unique(drawn, return_counts=True)
            q = self.probabilities(columns)
            entries = select_columns(
                matrix.indptr, matrix.indices, matrix.weights, nodes[-1], columns, counts / (size * q), number
            )
            nodes.append(columns)
            blocks.append(Block(*entries, len(columns)))
            draws.append(counts)
            probabilities.append(q)
        lists = (nodes, blocks, draws, probabilities)
        return ImportanceBatch(*(tuple(reversed(each)) for each in lists))  # type: ignore[call-overload]
