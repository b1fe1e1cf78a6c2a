"""Second-order random walks and their windows (Node2Vec, arXiv 1607.00653)."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Integers
from sign.baselines.samplers.block_kernels import has_entry
from sign.baselines.samplers.streams import below, stream, substream, uniform
from sign.errors import FieldError
from sign.system.jit import compiled
from sign.validation import Count, Range

NEGATIVES = 2**63  # in place of the number of a node
Positive = Annotated[float, Range(1e-3, 1e3)]


@dataclass(frozen=True, eq=False)
class WalkBatch:
    """Pairs of nodes that are near on a walk, and random nodes.

    ``walks`` has one row per walk, filled up with -1 behind a node without neighbours. ``sources[i]`` and
    ``targets[i]`` are a positive pair; ``sources[i]`` and each of ``negatives[i]`` are negative ones.
    """

    walks: Integers
    sources: Integers
    targets: Integers
    negatives: Integers


@dataclass(frozen=True, eq=False, kw_only=True)
class Node2VecSampler(TargetSampler[WalkBatch]):
    r"""Walks of ``walk_length`` nodes, ``walks_per_node`` from each of ``batch_size`` start nodes (``targets``).

    From node v, reached from t, a walk goes to the neighbour x of v with probability proportional to

    ======= ==============================
    1 / p   if x = t
    1       if x is a neighbour of t
    1 / q   otherwise
    ======= ==============================

    by rejection: a uniform neighbour is accepted with that weight over the largest of the three. Edge weights are
    ignored. Each of the windows of ``context_size`` nodes pairs its first node with the others; ``negatives`` uniform
    nodes are drawn per pair.
    """

    walk_length: Count
    context_size: Count
    walks_per_node: Count = 1
    negatives: Count = 1
    p: Positive = 1.0
    q: Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.context_size <= self.walk_length:
            raise FieldError("context_size", self.context_size, f"must be from 2 to walk_length, {self.walk_length}")

    def sample(self, targets: Integers, key: np.uint64) -> WalkBatch:
        """Return the walks that start at ``targets``, and their pairs."""
        matrix = self.adjacency
        walks = walk(matrix.indptr, matrix.indices, targets, self.walks_per_node, self.walk_length, self.p, self.q, key)
        windows = np.lib.stride_tricks.sliding_window_view(walks, self.context_size, axis=1)
        sources = np.repeat(windows[..., 0].ravel(), self.context_size - 1)
        others = windows[..., 1:].ravel()
        exists = others >= 0
        sources, others = sources[exists], others[exists]
        negatives = draw_nodes(matrix.nodes, (len(others), self.negatives), stream(key, NEGATIVES))
        return WalkBatch(walks, sources, others, negatives)


@compiled
def walk(indptr: Any, indices: Any, starts: Any, per_node: Any, length: Any, p: Any, q: Any, key: Any) -> Any:
    """Return one walk per row; each depends on its start node and its number among the walks from there."""
    walks = np.full((len(starts) * per_node, length), -1, np.int64)
    weight_back, weight_far = 1.0 / p, 1.0 / q
    largest = max(1.0, weight_back, weight_far)
    for row in range(len(walks)):
        node = np.int64(starts[row // per_node])
        own = substream(substream(key, node), row % per_node)
        previous, draw = np.int64(-1), 0
        walks[row, 0] = node
        for step in range(1, length):
            first, degree = indptr[node], indptr[node + 1] - indptr[node]
            if degree == 0:
                break
            while True:
                following = np.int64(indices[first + below(own, draw, degree)])
                threshold = uniform(own, draw + 1) * largest
                draw += 2
                if previous < 0:
                    break
                if following == previous:
                    weight = weight_back
                elif has_entry(indptr, indices, previous, following):
                    weight = 1.0
                else:
                    weight = weight_far
                if threshold < weight:
                    break
            previous, node = node, following
            walks[row, step] = node
    return walks


@compiled
def draw_nodes(nodes: Any, shape: Any, key: Any) -> Any:
    """Draw nodes uniformly."""
    drawn = np.empty(shape, np.int64)
    for i in range(shape[0]):
        for k in range(shape[1]):
            drawn[i, k] = below(key, i * shape[1] + k, nodes)
    return drawn
