"""Clusters as batches (ClusterGCN, arXiv 1905.07953), partitioned by METIS."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sign.baselines.samplers.base import Sampler, check_edges_exist
from sign.baselines.samplers.batches import Block, Integers, Subgraph
from sign.baselines.samplers.parallel import in_order
from sign.baselines.samplers.subgraph import entry_weights, induce
from sign.errors import FieldError, SignError
from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import remove_self_loops, symmetrize
from sign.validation import Count


def metis(adjacency: CSR, clusters: int, seed: int = 0) -> Integers:
    """Return the cluster of every node, from 0 on, such that few edges join two clusters.

    Edges count once whatever their direction and weight. METIS balances the sizes of the clusters, but may leave some
    empty; those are left out, so there can be fewer than ``clusters``.
    """
    try:
        import pymetis
    except ImportError as error:
        raise SignError("ClusterGCN needs METIS: pip install 'sign-gnn[baselines]', or pymetis") from error
    if not 1 <= clusters <= adjacency.nodes:
        raise FieldError("clusters", clusters, f"must be from 1 to the number of nodes, {adjacency.nodes:,}")
    links = remove_self_loops(adjacency)
    check_edges_exist(links)
    if not links.is_symmetric():
        links = symmetrize(links)
    graph = pymetis.CSRAdjacency(links.indptr, links.indices.astype(np.int64))
    _, parts = pymetis.part_graph(clusters, graph, options=pymetis.Options(seed=seed))
    return np.unique(np.asarray(parts), return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterSampler(Sampler):
    r"""A batch is the union of some clusters, with all edges within it, also between two of its clusters.

    ``clusters`` has the cluster of every node (:func:`metis`). An epoch shuffles the clusters and takes
    ``clusters_per_batch`` at a time, so every node is in one batch. The entries of the block are those of A: the paper
    normalises the subgraph anew. ``loss_weights`` average over the targets of the batch.
    """

    clusters: Array
    clusters_per_batch: Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clusters.shape != (self.adjacency.nodes,):
            rule = f"must have one cluster per node, {self.adjacency.nodes:,}"
            raise FieldError("clusters", self.clusters.shape, rule)

    @property
    def count(self) -> int:
        """The number of clusters."""
        return int(self.clusters.max()) + 1

    def __len__(self) -> int:
        """Return the number of batches per epoch."""
        return -(-self.count // self.clusters_per_batch)

    def sample(self, nodes: Integers) -> Subgraph:
        """Return the subgraph of some sorted nodes."""
        indptr, columns, entries = induce(self.adjacency, nodes, self.scratch)
        block = Block(indptr, columns, entry_weights(self.adjacency, entries), len(nodes))
        targets = np.flatnonzero(self.is_target[nodes])
        return Subgraph(nodes, block, targets, np.full(len(targets), 1 / max(1, len(targets)), np.float32))

    def epoch(self, number: int, threads: int | None = None) -> Iterator[Subgraph]:
        """Iterate over the batches of an epoch, in which the clusters are shuffled anew."""
        by_cluster = np.argsort(self.clusters, kind="stable")
        bounds = np.searchsorted(self.clusters[by_cluster], np.arange(self.count + 1))
        order = np.random.default_rng([self.seed, number]).permutation(self.count)

        def batch(i: int) -> Subgraph:
            chosen = order[i * self.clusters_per_batch : (i + 1) * self.clusters_per_batch]
            nodes = np.concatenate([by_cluster[bounds[c] : bounds[c + 1]] for c in chosen])
            return self.sample(np.sort(nodes, kind="stable"))  # which is fast on sorted runs

        return in_order(batch, range(len(self)), threads)
