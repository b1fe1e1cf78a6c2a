"""Neighbour sampling (GraphSAGE, arXiv 1706.02216)."""

from dataclasses import dataclass

import numpy as np

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Integers, LayeredBatch
from sign.baselines.samplers.blocks import check_layers, sampled_rows
from sign.baselines.samplers.streams import stream
from sign.validation import Count


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighbourSampler(TargetSampler[LayeredBatch]):
    r"""Each node aggregates a uniform sample of its neighbours, without replacement.

    ``fanouts`` are the numbers of neighbours per node, from the targets down to the inputs; a node with fewer
    neighbours uses all of them. With the sample :math:`\hat n(u)` of the neighbours :math:`n(u)`,

    .. math:: \sum_{v \in \hat n(u)} \frac{|n(u)|}{|\hat n(u)|} a_{uv} h_v

    is an unbiased estimate of row u of A h. For :math:`A = D^{-1} W` it is the mean over the sample, GraphSAGE's
    aggregator. ``nodes[l]`` starts with ``nodes[l + 1]``, so each node also finds its own input.
    """

    fanouts: list[Count]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("fanouts", self.fanouts)

    def sample(self, targets: Integers, key: np.uint64) -> LayeredBatch:
        """Return the layers below some distinct nodes."""
        nodes, blocks = [targets], []
        for layer, fanout in enumerate(self.fanouts):
            rows = nodes[-1]
            block, inputs = sampled_rows(self.adjacency, rows, rows, fanout, stream(key, layer), self.scratch)
            nodes.append(inputs)
            blocks.append(block)
        return LayeredBatch(tuple(nodes[::-1]), tuple(blocks[::-1]))
