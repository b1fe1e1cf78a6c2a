"""Adaptive layer-wise sampling (AS-GCN, arXiv 1809.05343)."""

from dataclasses import dataclass

import numpy as np

from sign.baselines.samplers.base import TargetSampler
from sign.baselines.samplers.batches import Integers, LayeredBatch
from sign.baselines.samplers.blocks import Doubles, check_layers, masses_of_neighbours, selected_columns
from sign.baselines.samplers.streams import categories, draw_categories, stream
from sign.errors import FieldError
from sign.graph.csr import Array
from sign.validation import Count


@dataclass(frozen=True, eq=False)
class Candidates:
    """The neighbours of a layer, of which the layer below was drawn.

    ``probabilities`` are q, and ``masses`` times the absolute scores are proportional to them. ``drawn`` are the
    positions of the nodes that were drawn, and ``draws`` is how often each was.
    """

    nodes: Integers
    masses: Doubles
    probabilities: Doubles
    drawn: Integers
    draws: Integers


@dataclass(frozen=True, eq=False)
class AdaptiveBatch(LayeredBatch):
    """Layers with the candidates of each: ``nodes[l]`` is ``candidates[l].nodes[candidates[l].drawn]``.

    To train the scores, compute q again from ``candidates[l].masses`` and the scores of ``candidates[l].nodes``, and
    scale each column of ``blocks[l]`` by ``probabilities`` over q, which is one and has a gradient.
    """

    candidates: tuple[Candidates, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class ASGCNSampler(TargetSampler[AdaptiveBatch]):
    r"""Each layer is drawn among the neighbours of the layer above, by learned scores.

    ``sizes`` are the numbers of draws t per layer, from below the targets down to the inputs, and ``scores`` are
    g(x) of all nodes, none of which is zero. With :math:`p(v|u) = a_{uv} / \sum_w a_{uw}`, draws are independent and
    with replacement, with probability

    .. math:: q(v) = \frac{\sum_u p(v|u)\, |g(x_v)|}{\sum_w \sum_u p(w|u)\, |g(x_w)|}

    where u runs over the layer above, and :math:`\frac{1}{t} \sum_{i=1}^t a_{u v_i} h_{v_i} / q(v_i)` is an unbiased
    estimate of row u of A h, for any scores. The official code has the Euclidean norm over u of :math:`a_{uv}` in
    place of the sum over u, times an attention of the layer above.
    """

    sizes: list[Count]
    scores: Array

    def __post_init__(self) -> None:
        super().__post_init__()
        check_layers("sizes", self.sizes)
        if self.scores.shape != (self.adjacency.nodes,):
            raise FieldError("scores", self.scores.shape, f"must have one score per node, {self.adjacency.nodes}")
        invalid = ~np.isfinite(self.scores) | (self.scores == 0)
        if invalid.any():
            raise FieldError("scores", self.scores[invalid][0], "must be finite, and not zero")

    def sample(self, targets: Integers, key: np.uint64) -> AdaptiveBatch:
        """Return the layers below some nodes."""
        nodes, blocks, candidates = [targets], [], []
        for layer, size in enumerate(self.sizes):
            chosen = self.draw(nodes[-1], size, stream(key, layer))
            columns = chosen.nodes[chosen.drawn]
            factors = chosen.draws / (size * chosen.probabilities[chosen.drawn])
            blocks.append(selected_columns(self.adjacency, nodes[-1], columns, factors, self.scratch))
            nodes.append(columns)
            candidates.append(chosen)
        return AdaptiveBatch(tuple(nodes[::-1]), tuple(blocks[::-1]), tuple(candidates[::-1]))

    def draw(self, rows: Integers, size: int, key: np.uint64) -> Candidates:
        """Draw the layer below ``rows``; without a neighbour, it is empty."""
        nodes, masses = masses_of_neighbours(self.adjacency, rows, self.scratch)
        if not len(nodes):
            return Candidates(nodes, masses, masses, nodes, nodes)
        q = categories(masses * np.abs(self.scores[nodes]))
        drawn, draws = np.unique(draw_categories(q, size, key), return_counts=True)
        return Candidates(nodes, masses, q.probabilities, drawn, draws)
