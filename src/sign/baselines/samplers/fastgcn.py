"""Layer-wise importance sampling (FastGCN, arXiv 1801.10247)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Integers, LayeredBatch
from sign.baselines.samplers.blocks import Doubles, check_layers, column_importance, selected_columns
from sign.baselines.samplers.streams import Categories, draw_categories, stream
from sign.validation import Count


@dataclass(frozen=True, eq=False)
class ImportanceBatch(LayeredBatch):
    """Layers whose ``nodes[l]``, below the targets, are distinct and sorted: how often, and how likely, each was drawn.

    ``draws[l]`` and ``probabilities[l]`` belong to ``nodes[l]``.
    """

    draws: tuple[Integers, ...]
    probabilities: tuple[Doubles, ...]


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
    def importance(self) -> Categories:
        """The distribution q."""
        return column_importance(self.adjacency)

    def probabilities(self, nodes: Integers) -> Doubles:
        """Return q of some nodes."""
        cumulative = self.importance.cumulative
        return cumulative[nodes] - np.where(nodes > 0, cumulative[nodes - 1], 0.0)

    def sample(self, targets: Integers, key: np.uint64) -> ImportanceBatch:
        """Return the layers below some nodes."""
        nodes, blocks, draws, probabilities = [targets], [], [], []
        for layer, size in enumerate(self.sizes):
            drawn = draw_categories(self.importance, size, stream(key, layer))
            columns, counts = np.unique(drawn, return_counts=True)
            q = self.probabilities(columns)
            blocks.append(selected_columns(self.adjacency, nodes[-1], columns, counts / (size * q), self.scratch))
            nodes.append(columns)
            draws.append(counts)
            probabilities.append(q)
        return ImportanceBatch(tuple(nodes[::-1]), tuple(blocks[::-1]), tuple(draws[::-1]), tuple(probabilities[::-1]))
