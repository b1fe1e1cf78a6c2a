"""Attention whose weights are learned on some training nodes and frozen, so that it is precomputed like the rest."""

from dataclasses import dataclass
from typing import Annotated

from sign.errors import SignError
from sign.graph.classification import Origin
from sign.graph.csr import Floats
from sign.graph.csr_transforms import remove_self_loops
from sign.graph.graph import Graph
from sign.graph.matrix import Matrix
from sign.operators.base import Operator, inverse_power
from sign.operators.neighbour_sampling import Learning
from sign.validation import Count, Range, Seed


@dataclass(frozen=True)
class Attention(Operator):
    r"""Row-normalised :math:`w_{ij}\,e^{s_{ij}}`, where :math:`s_{ij} = a^⊤\,\mathrm{LeakyReLU}(U x_i + V x_j + b)`.

    This is the attention of GATv2: one head over the neighbours of a node and, with weight one, the node itself.
    :math:`x_i` are the scaled features of node i, and the slope for negative values is 0.2. The graph is symmetrised
    and its own self-loops are removed. The score of a neighbour is at most 30 above or below that of the node itself,
    so that weights stay within single precision.

    :math:`U, V, a, b` are learned once, with a hidden layer and an output layer that are then discarded: the labels of
    some training nodes are predicted from :math:`\sum_j B_{ij} x_j` over sampled neighbours. Labels of other nodes are
    never read, and of an inductive data set no other nodes. Then the weights are frozen, and the operator is applied to
    any graph with the same features.

    Parameters
    ----------
    units
        The number of rows of U and V.
    hidden
        Units of the layer above, which only learning uses.
    sample
        The number of training nodes to learn on; all, if there are fewer.
    neighbours
        The most neighbours of each, drawn anew in every epoch.
    epochs, learning_rate, weight_decay
        Of learning, by Adam.
    seed
        Of the sample, the initial weights and dropout.

    Examples
    --------
    >>> import numpy as np
    >>> from sign.graph.classification import Origin
    >>> from sign.graph.feature_scaling import FeatureScaling
    >>> from sign.testing import path
    >>> origin, nothing = Origin(path(2), FeatureScaling("none")), np.zeros((6, 1), np.float32)
    >>> Attention(units=1).learned_matrix(origin, nothing).to_scipy().toarray()  # all scores are 0
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """

    name = "attention"
    units: Annotated[int, Range(1, 256)] = 8
    hidden: Annotated[int, Range(1, 4096)] = 64
    sample: Count = 10_000
    neighbours: Count = 16
    epochs: Count = 10
    learning_rate: Annotated[float, Range(1e-6, 1)] = 0.01
    weight_decay: Annotated[float, Range(0, 1)] = 0.001
    seed: Seed = 0

    @property
    def learns(self) -> bool:
        """Always."""
        return True

    def matrix(self, graph: Graph) -> Matrix:
        """Raise: without parameters there is no matrix."""
        raise SignError("attention: its weights are learned when hops are computed; it has no matrix before")

    def learn(self, training: Origin) -> Floats:
        """Return U and V by column of the features, then b and a, each as a row of ``units`` numbers."""
        from sign.operators.attention_training import learn_attention  # imported late: it loads torch

        sampling = Learning(self.sample, self.neighbours, self.epochs, self.learning_rate, self.weight_decay, self.seed)
        return learn_attention(training, self.units, self.hidden, sampling)

    def learned_matrix(self, origin: Origin, parameters: Floats) -> Matrix:
        """Return the weights relative to that of the node itself, with their inverse row sums as the left factor."""
        from sign.operators.attention_scores import relative_weights  # imported late: it compiles

        csr = relative_weights(remove_self_loops(origin.graph.undirected), origin, parameters)
        return Matrix(csr, left=inverse_power(csr.row_sums + 1, 1), self_loop=1.0)
