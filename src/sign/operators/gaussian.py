"""Edges weighted by a Gaussian kernel on their features, given or learned on some training nodes."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from sign.errors import FieldError, SignError
from sign.graph.classification import Origin
from sign.graph.csr import CSR, Floats
from sign.graph.csr_transforms import remove_self_loops, symmetrize
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.operators.neighbour_sampling import Learning
from sign.system import arrays
from sign.validation import Count, Range, Seed

BOUND = 60.0  # of the exponent: kernels and their inverse row sums stay within single precision


@dataclass(frozen=True)
class GaussianKernel(Operator):
    r"""Row-normalised :math:`w_{ij}\,e^{-\sum_c (f_{ijc} - μ_c)^2 / 2σ_c^2}`, as a kernel of MoNet.

    :math:`f_{ij}` are the features of the edge ij. The mean of both directions weights an edge of a directed graph,
    as for every undirected operator; self-loops are removed. A kernel is at least :math:`e^{-60}`, so that every node
    with a neighbour has a row that sums to one. MoNet's several kernels are operators under several letters.

    If they are ``learned``, μ and σ start from the given ones: the labels of some training nodes are predicted from the
    average of their sampled neighbours, or of those that they point to. Then both are frozen, as those of attention.

    Parameters
    ----------
    mean, width
        μ and σ, one number per column of the edge features, or one for all.
    learned
        Whether they are learned.
    hidden, sample, neighbours, epochs, learning_rate, seed
        How they are learned, as in :class:`~sign.operators.attention.Attention`.

    Examples
    --------
    >>> edges = np.array([[0, 1], [0, 2], [0, 3]])
    >>> star = Graph.from_edges(edges, np.eye(4), edge_features=[[0.0], [0.0], [2.0]])
    >>> GaussianKernel().matrix(star).to_scipy().toarray()[0].round(2)
    array([0.  , 0.47, 0.47, 0.06], dtype=float32)
    """

    name = "gaussian"
    mean: list[float] = field(default_factory=lambda: [0.0])
    width: list[float] = field(default_factory=lambda: [1.0])
    learned: bool = False
    hidden: Annotated[int, Range(1, 4096)] = 64
    sample: Count = 10_000
    neighbours: Count = 16
    epochs: Count = 10
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.01
    seed: Seed = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.mean:
            raise FieldError("mean", self.mean, "give one number per column of the edge features, or one for all")
        if not self.width or min(self.width) <= 0:
            raise FieldError("width", self.width, "must be positive numbers, one per column of the edge features")

    @property
    def reads(self) -> tuple[str, ...]:
        """The features of edges."""
        return ("edge_features",)

    @property
    def learns(self) -> bool:
        """As the field says."""
        return self.learned

    def learn(self, training: Origin) -> Floats:
        """Return the means and the widths, one row each."""
        from sign.operators.gaussian_training import learn_kernel  # imported late: it loads torch

        sampling = Learning(self.sample, self.neighbours, self.epochs, self.learning_rate, 0.0, self.seed)
        return learn_kernel(training, self._parameters(training.graph), BOUND, self.hidden, sampling)

    def learned_matrix(self, origin: Origin, parameters: Floats) -> Matrix:
        """Return the matrix with these means and widths."""
        return self._weighted(origin.graph, parameters)

    def matrix(self, graph: Graph) -> Matrix:
        """Return the weighted edges, with their inverse row sums as the left factor."""
        if self.learned:
            raise SignError("gaussian: with learned=true, its weights are learned when hops are computed")
        return self._weighted(graph, self._parameters(graph))

    def _parameters(self, graph: Graph) -> Floats:
        """Return the means and widths of the settings, one row each."""
        features = _features_of(graph)
        for name, values in (("mean", self.mean), ("width", self.width)):
            if len(values) not in (1, features.shape[1]):
                rule = f"{graph.name} has {features.shape[1]} edge features; give as many numbers, or one for all"
                raise FieldError(name, values, rule)
        return np.stack([np.broadcast_to(values, features.shape[1]) for values in (self.mean, self.width)]).astype("f4")

    def _weighted(self, graph: Graph, parameters: Floats) -> Matrix:
        features, csr, (mean, width) = _features_of(graph), graph.adjacency, parameters
        if features.shape[1] != len(mean):
            rule = f"the kernel was learned on {len(mean)}; give it the same columns"
            raise SignError(f"{graph.name}: has {features.shape[1]} edge features, but {rule}")
        weights = arrays.empty(csr.entries, np.float32)
        for part in arrays.chunks(features):
            exponents = 0.5 * np.square((features[part].astype(np.float64) - mean) / width).sum(axis=1)
            weights[part] = np.exp(-np.minimum(exponents, BOUND)) * (1 if csr.weights is None else csr.weights[part])
        weighted = CSR(csr.indptr, csr.indices, weights)
        weighted = remove_self_loops(symmetrize(weighted) if graph.directed else weighted)
        return Matrix(weighted, left=inverse_power(weighted.row_sums, 1))


def _features_of(graph: Graph) -> Floats:
    if graph.edge_features is None:
        raise SignError(
            f"{graph.name}: its edges have no features, which operator gaussian reads; name them in "
            "dataset.edge_features, or use another operator"
        )
    return graph.edge_features
