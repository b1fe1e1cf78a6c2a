"""Adjacencies weighted by motif counts: what the triangle, clique and four-cycle operators share."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sign.graph.csr import CSR, Array
from sign.graph.csr_transforms import remove_self_loops, select_entries
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Motif, MotifCounter, Operator, ScaledEdges

MEAN = ScaledEdges("triangles", left=1.0)  # of the neighbours, by their weighted counts


@dataclass(frozen=True)
class MotifAdjacency(Operator):
    r"""Row-normalised :math:`w_{ij}\,c_{ij}`, where :math:`c_{ij}` counts the motifs that contain the edge ij."""

    @property
    @abstractmethod
    def motif(self) -> Motif:
        """The motif that is counted."""

    def matrix(self, graph: Graph) -> Matrix:
        """Return the weighted counts, with their inverse row sums as the left factor."""
        from sign.operators.motif_counts import count_motifs  # imported late: it compiles

        return self._weighted(graph, count_motifs)

    def matrix_by(self, graph: Graph, count: MotifCounter) -> Matrix:
        """Return the same, with motifs counted by ``count``, unless a subclass has a matrix of its own."""
        own = type(self).matrix is not MotifAdjacency.matrix
        return self.matrix(graph) if own else self._weighted(graph, count)

    def edges(self, graph: Graph) -> CSR:
        """Return the edges that are weighted: the undirected ones, without self-loops."""
        return remove_self_loops(graph.undirected)

    def counts(self, csr: CSR, count: MotifCounter) -> Array:
        """Return the number of motifs of each entry of :meth:`edges`."""
        return count(self.motif, csr)

    def _weighted(self, graph: Graph, count: MotifCounter) -> Matrix:
        csr = self.edges(graph)
        counts = self.counts(csr, count)
        weights = counts.astype(np.float32) * (1 if csr.weights is None else csr.weights)
        weighted = select_entries(CSR(csr.indptr, csr.indices, weights), counts > 0)
        return MEAN.matrix(weighted)
