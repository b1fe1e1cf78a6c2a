"""ClusterGCN: batches of clusters (Chiang et al., arXiv 1905.07953)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from sign.baselines.base import Baseline
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.validation import Count, Range

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network


@dataclass(frozen=True)
class DiagonalEnhancement(Operator):
    r"""The paper's :math:`\tilde A + λ\, \mathrm{diag}(\tilde A)` with :math:`\tilde A = (D + I)^{-1} (W + I)`.

    That is :math:`(D + I)^{-1} (W + (1 + λ) I)`: each node counts more among its neighbours.
    """

    name = "diagonal_enhancement"
    diag_lambda: Annotated[float, Range(-1)] = 0.0

    def matrix(self, graph: Graph) -> Matrix:
        """Return the adjacency with its normalisation as a factor."""
        csr = graph.undirected
        return Matrix(csr, left=inverse_power(csr.row_sums + 1, 1), self_loop=1 + self.diag_lambda)


@dataclass(frozen=True, kw_only=True)
class ClusterGCN(Baseline):
    """``layers`` convolutions on unions of ``clusters_per_batch`` of ``clusters`` clusters, which METIS finds.

    As in the authors' code, a layer reads the rows of the nodes beside their product, dropout acts on both, a batch
    is normalised by itself, with ``diag_lambda`` of diagonal enhancement, and the product of the first layer is
    computed before training, on all edges.
    """

    first_product: ClassVar[bool] = True
    layers: Count
    clusters: Count
    clusters_per_batch: Count
    diag_lambda: Annotated[float, Range(-1)] = 0.0

    @property
    def operator(self) -> DiagonalEnhancement:
        """The normalisation by rows, with diagonal enhancement."""
        return DiagonalEnhancement(self.diag_lambda)

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the network."""
        from sign.baselines.network import SAGELayer, stack

        return stack([SAGELayer] * self.layers, features, classes, self)

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Find the clusters, which do not depend on the seed, and return their batches."""
        from sign.baselines.samplers.clustergcn import ClusterSampler, metis
        from sign.baselines.subgraphs import ClusterBatches

        csr = data.graph.undirected
        sampler = ClusterSampler(
            adjacency=csr,
            targets=data.targets,
            seed=seed,
            clusters=metis(csr, self.clusters),
            clusters_per_batch=self.clusters_per_batch,
        )
        return ClusterBatches(data, sampler, self.layers, self.diag_lambda)
