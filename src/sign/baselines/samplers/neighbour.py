"""Neighbour sampling (GraphSAGE, arXiv 1706.02216)."""

from dataclasses import dataclass

import numpy as np

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Block, Integers, LayeredBatch
from sign.baselines.samplers.block_kernels import sample_rows
from sign.baselines.samplers.streams import stream
from sign.errors import FieldError
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
        matrix, number = self.adjacency, self.numbers.array()
        nodes, blocks = [targets], []
        for layer, fanout in enumerate(self.fanouts):
            rows = nodes[-1]
            indptr, columns, weights, inputs = sample_rows(
                matrix.indptr, matrix.indices, matrix.weights, rows, rows, fanout, stream(key, layer), number
            )
            nodes.append(inputs)
            blocks.append(Block(indptr, columns, weights, len(inputs)))
        return LayeredBatch(tuple(reversed(nodes)), tuple(reversed(blocks)))


def check_layers(name: str, sizes: list[int]) -> None:
    """Raise a :class:`FieldError` unless there is a number for at least one layer."""
    if not sizes:
        raise FieldError(name, sizes, "must have one number per layer")
