"""Subgraph sampling (GraphSAINT, arXiv 1907.04931) by nodes, edges or random walks."""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sign.baselines.samplers.base import Sampler
from sign.baselines.samplers.batches import Block, Integers, Subgraph
from sign.baselines.samplers.blocks import Doubles, column_importance
from sign.baselines.samplers.parallel import in_order
from sign.baselines.samplers.saint_kernels import (
    draw_edges,
    draw_walks,
    edge_weights_by_edges,
    edge_weights_by_nodes,
    endpoint_probabilities,
)
from sign.baselines.samplers.scratch import distinct
from sign.baselines.samplers.streams import Categories, draw_categories, stream
from sign.baselines.samplers.subgraph import entry_weights, induce
from sign.errors import SignError
from sign.graph.csr import Floats
from sign.validation import Count

PRE_SAMPLING = 2**63  # in place of the number of an epoch


@dataclass(frozen=True, eq=False)
class Normalization:
    r"""What makes the estimators unbiased.

    ``entries`` are :math:`a_{vu} / α_{uv}` for every entry of A, with :math:`α_{uv} = p_{uv} / p_v`, and ``nodes`` are
    :math:`1 / p_v`, where :math:`p_v` and :math:`p_{uv}` are the probabilities that a subgraph has node v, and that it
    has both nodes. The paper's :math:`λ_v` is :math:`|V| p_v`. What is never sampled has zero.
    """

    nodes: Doubles
    entries: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class SAINTSampler(Sampler, ABC):
    """A batch is the subgraph that randomly drawn nodes induce.

    ``batches`` is the number of batches per epoch; by default, as many as draw as many nodes as there are targets.
    """

    batches: Count | None = None

    @property
    @abstractmethod
    def budget(self) -> int:
        """The number of nodes that are drawn for a batch."""

    @abstractmethod
    def draw(self, key: np.uint64) -> Integers:
        """Draw the nodes of a batch; some may be drawn several times."""

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return self.batches or -(-len(self.targets) // self.budget)

    def sample(self, key: np.uint64, normalization: Normalization | None = None) -> Subgraph:
        """Return a batch; without normalisation, with the entries of A and the mean loss of its targets."""
        nodes = distinct(self.draw(key), self.scratch.arrays().bits)
        indptr, columns, entries = induce(self.adjacency, nodes, self.scratch)
        targets = np.flatnonzero(self.is_target[nodes])
        if normalization is None:
            weights = entry_weights(self.adjacency, entries)
            loss_weights = np.full(len(targets), 1 / max(1, len(targets)), np.float32)
        else:
            weights = normalization.entries.take(entries)
            loss_weights = (normalization.nodes[nodes[targets]] / len(self.targets)).astype(np.float32)
        return Subgraph(nodes, Block(indptr, columns, weights, len(nodes)), targets, loss_weights)

    def epoch(
        self, number: int, normalization: Normalization | None = None, threads: int | None = None
    ) -> Iterator[Subgraph]:
        """Iterate over the batches of an epoch."""
        keys = (stream(self.seed, number, i) for i in range(len(self)))
        return in_order(lambda key: self.sample(key, normalization), keys, threads)

    def estimated_normalization(self, coverage: Count, threads: int | None = None) -> Normalization:
        """Estimate the normalisation by counts in sampled subgraphs, as the paper does.

        Subgraphs are sampled until they have ``coverage`` times as many nodes as the graph. What none of them has is
        treated as if one had it.
        """
        matrix = self.adjacency
        node_counts, entry_counts = np.zeros(matrix.nodes, np.int64), np.zeros(matrix.entries, np.int32)
        subgraphs, sampled = 0, 0

        def pre_sample(i: int) -> tuple[Integers, Integers]:
            nodes = distinct(self.draw(stream(self.seed, PRE_SAMPLING, i)), self.scratch.arrays().bits)
            return nodes, induce(matrix, nodes, self.scratch)[2]

        for nodes, entries in in_order(pre_sample, itertools.count(), threads):
            node_counts[nodes] += 1
            entry_counts[entries] += 1
            subgraphs, sampled = subgraphs + 1, sampled + len(nodes)
            if sampled >= coverage * matrix.nodes:
                break
        np.maximum(node_counts, 1, out=node_counts)
        np.maximum(entry_counts, 1, out=entry_counts)
        weights = np.repeat(node_counts.astype(np.float32), np.diff(matrix.indptr))
        weights /= entry_counts
        if matrix.weights is not None:
            weights *= matrix.weights
        return Normalization(subgraphs / node_counts, weights)


@dataclass(frozen=True, eq=False, kw_only=True)
class SAINTNodeSampler(SAINTSampler):
    r"""Draw ``nodes_drawn`` nodes independently, with replacement, :math:`P(v) ∝ \|A_{:,v}\|^2`."""

    nodes_drawn: Count

    @property
    def budget(self) -> int:
        """The number of nodes that are drawn for a batch."""
        return self.nodes_drawn

    @cached_property
    def importance(self) -> Categories:
        """The distribution P."""
        return column_importance(self.adjacency)

    def draw(self, key: np.uint64) -> Integers:
        """Draw the nodes of a batch."""
        drawn: Integers = draw_categories(self.importance, self.nodes_drawn, key)
        return drawn

    def exact_normalization(self) -> Normalization:
        r"""Return the normalisation in closed form.

        With n draws, :math:`p_v = 1 - (1 - P_v)^n` and :math:`p_{uv} = p_u + p_v - 1 + (1 - P_u - P_v)^n`. Nodes that
        are hardly ever drawn have huge weights; the estimated ones are at most the number of subgraphs.
        """
        matrix = self.adjacency
        single = self.importance.probabilities
        included = at_least_once(single, self.nodes_drawn)
        entries = np.empty(matrix.entries, np.float32)
        for bounds in matrix.blocks():
            edge_weights_by_nodes(
                matrix.indptr, matrix.indices, matrix.weights, single, included, self.nodes_drawn, bounds, entries
            )
        return Normalization(inverse(included), entries)


@dataclass(frozen=True, eq=False, kw_only=True)
class SAINTEdgeSampler(SAINTSampler):
    r"""Draw ``edges_drawn`` edges independently, with replacement, :math:`P(u, v) ∝ 1/\deg(u) + 1/\deg(v)`.

    The batch is induced by the ends of the edges. A uniform neighbour of a uniform node that has one is an edge with
    just this probability. Isolated nodes are never sampled.
    """

    edges_drawn: Count

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.adjacency.self_loops:
            raise SignError(
                f"GraphSAINT's edge sampler: the matrix has {self.adjacency.self_loops:,} self-loops, which are no "
                "edges; use a normalisation without them, such as row"
            )

    @property
    def budget(self) -> int:
        """The number of nodes that are drawn for a batch."""
        return 2 * self.edges_drawn

    @cached_property
    def connected(self) -> Integers:
        """The nodes that have a neighbour."""
        return np.flatnonzero(np.diff(self.adjacency.indptr))

    def draw(self, key: np.uint64) -> Integers:
        """Draw the nodes of a batch."""
        matrix = self.adjacency
        drawn: Integers = draw_edges(matrix.indptr, matrix.indices, self.connected, self.edges_drawn, key)
        return drawn

    def exact_normalization(self) -> Normalization:
        r"""Return the normalisation in closed form.

        With m draws and the probability :math:`s_v` that an edge has the end v, :math:`p_v = 1 - (1 - s_v)^m` and
        :math:`p_{uv} = p_u + p_v - 1 + (1 - s_u - s_v + P_{uv})^m`.
        """
        matrix = self.adjacency
        single, entry_of_row = endpoint_probabilities(matrix.indptr, matrix.indices)
        included = at_least_once(single, self.edges_drawn)
        entries = np.empty(matrix.entries, np.float32)
        for bounds in matrix.blocks():
            edge_weights_by_edges(
                matrix.indptr,
                matrix.indices,
                matrix.weights,
                single,
                entry_of_row,
                included,
                self.edges_drawn,
                bounds,
                entries,
            )
        return Normalization(inverse(included), entries)


@dataclass(frozen=True, eq=False, kw_only=True)
class SAINTWalkSampler(SAINTSampler):
    """Walk ``length`` steps to uniform neighbours from each of ``roots`` uniform nodes, drawn with replacement.

    The batch is induced by the nodes that a walk visits. Its normalisation has no closed form.
    """

    roots: Count
    length: Count

    @property
    def budget(self) -> int:
        """The number of nodes that are drawn for a batch, as the official code counts them: without the roots."""
        return self.roots * self.length

    def draw(self, key: np.uint64) -> Integers:
        """Draw the nodes of a batch."""
        matrix = self.adjacency
        drawn: Integers = draw_walks(matrix.indptr, matrix.indices, self.roots, self.length, key)
        return drawn


def at_least_once(single: Doubles, draws: int) -> Doubles:
    """Return 1 - (1 - single) ** draws without cancellation."""
    with np.errstate(divide="ignore"):
        result: Doubles = -np.expm1(draws * np.log1p(-np.minimum(single, 1.0)))
    return result


def inverse(probabilities: Doubles) -> Doubles:
    """Return 1 / probabilities, and zero for zero."""
    return np.divide(1.0, probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
