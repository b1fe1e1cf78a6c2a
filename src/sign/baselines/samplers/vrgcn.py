"""Neighbour sampling with control variates (VR-GCN or Stochastic-GCN, arXiv 1710.10568)."""

from dataclasses import dataclass

import numpy as np

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Block, Integers, LayeredBatch
from sign.baselines.samplers.blocks import check_layers, sampled_rows
from sign.baselines.samplers.streams import stream
from sign.validation import LARGEST, Count


@dataclass(frozen=True, eq=False)
class ControlVariateBatch(LayeredBatch):
    """Layers with the complete rows of each, for the product with the history.

    ``complete[l]`` has the rows ``nodes[l + 1]`` and the columns ``fields[l]``, which starts with ``nodes[l]``.
    """

    complete: tuple[Block, ...]
    fields: tuple[Integers, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class VRGCNSampler(TargetSampler[ControlVariateBatch]):
    r"""A few sampled neighbours correct the product with the activations of earlier iterations.

    ``fanouts`` are the numbers of neighbours D per node, from the targets down to the inputs, as in
    :class:`~sign.baselines.samplers.neighbour.NeighbourSampler`. With the history :math:`\bar h`,

    .. math::
        \sum_{v \in \hat n(u)} \frac{|n(u)|}{|\hat n(u)|} a_{uv} (h_v - \bar h_v) + \sum_{v \in n(u)} a_{uv} \bar h_v

    is an unbiased estimate of row u of A h for any history, and exact for :math:`\bar h = h`. In arrays, layer l is
    ``blocks[l] @ (h - history[nodes[l]]) + complete[l] @ history[fields[l]]``; then ``history[nodes[l]] = h``.
    """

    fanouts: list[Count]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("fanouts", self.fanouts)

    def sample(self, targets: Integers, key: np.uint64) -> ControlVariateBatch:
        """Return the layers below some distinct nodes."""
        matrix = self.adjacency
        nodes, blocks, complete, fields = [targets], [], [], []
        for layer, fanout in enumerate(self.fanouts):
            rows = nodes[-1]
            sampled, inputs = sampled_rows(matrix, rows, rows, fanout, stream(key, layer), self.scratch)
            entire, field = sampled_rows(matrix, rows, inputs, LARGEST, key, self.scratch)
            nodes.append(inputs)
            blocks.append(sampled)
            complete.append(entire)
            fields.append(field)
        return ControlVariateBatch(tuple(nodes[::-1]), tuple(blocks[::-1]), tuple(complete[::-1]), tuple(fields[::-1]))
