"""Attention equals the softmax of its scores, and learns which neighbours tell the class of a node."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from common.graphs import dense_undirected, graphs, row_normalized
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from sign.errors import SignError
from sign.graph.classification import Origin
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import Graph
from sign.operators.attention import Attention
from sign.operators.edge_learning import fit
from sign.operators.neighbour_sampling import Learning, NeighbourBatch, sampled_entries
from sign.testing import graph_of, path

PLAIN = FeatureScaling("none")
QUICK = Attention(units=4, hidden=16, sample=100, epochs=10, learning_rate=0.03)


def formula(graph: Graph, parameters: np.ndarray) -> np.ndarray:
    """The softmax over the neighbours of a node and the node itself, with weights of edges, and one for the node."""
    x, d = graph.features.astype(np.float64), graph.features.shape[1]
    own, other, (bias, output) = parameters[:d], parameters[d : 2 * d], parameters[-2:]
    hidden = (x @ own)[:, None, :] + (x @ other)[None, :, :] + bias
    scores = np.where(hidden > 0, hidden, 0.2 * hidden) @ output
    weights = dense_undirected(graph)
    np.fill_diagonal(weights, 1)
    return row_normalized(weights * np.exp(scores - scores.diagonal()[:, None]))


def noisy_neighbours(multilabel: bool = False) -> Graph:
    """Two classes whose first feature tells the class; half of all nodes are noise, which the second feature tells."""
    rng = np.random.default_rng(0)
    labels, noise = rng.integers(0, 2, 300), rng.random(300) < 0.5
    x = np.stack([np.where(noise, rng.choice([-3, 3], 300), 2 * labels - 1), noise], axis=1).astype(np.float32)
    same = [(i, j) for i in range(300) for j in rng.integers(0, 300, 12) if noise[j] or labels[i] == labels[j]]
    y = np.eye(2)[labels] if multilabel else labels
    return Graph.from_edges(np.array(same), x, y, train=np.arange(0, 300, 2))


@given(graph=graphs(), units=st.integers(1, 4), seed=st.integers(0, 99))
def test_it_equals_the_dense_softmax(graph: Graph, units: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parameters = rng.standard_normal((2 * graph.features.shape[1] + 2, units)).astype(np.float32) / 4
    ours = QUICK.learned_matrix(Origin(graph, PLAIN), parameters).to_scipy().toarray()
    np.testing.assert_allclose(ours, formula(graph, parameters), atol=1e-4)
    np.testing.assert_allclose(ours.sum(axis=1), 1, atol=1e-5)


def test_the_scaled_features_are_what_is_scored() -> None:
    graph = graph_of([(0, 1), (1, 2)], 3, features=np.array([[1, 3], [2, 2], [5, 0]], np.float32))
    scaled = graph_of([(0, 1), (1, 2)], 3, features=graph.features / graph.features.sum(axis=1, keepdims=True))
    parameters = np.arange(12, dtype=np.float32).reshape(6, 2) / 6
    ours = QUICK.learned_matrix(Origin(graph, FeatureScaling("row_sum")), parameters).to_scipy().toarray()
    np.testing.assert_allclose(ours, formula(scaled, parameters), atol=1e-6)


def test_extreme_scores_stay_finite() -> None:
    graph = graph_of([(0, 1)], 2, features=np.array([[1e6], [-1e6]], np.float32))
    matrix = QUICK.learned_matrix(Origin(graph, PLAIN), np.ones((4, 1), np.float32)).to_scipy().toarray()
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 1)


@pytest.mark.parametrize("multilabel", [False, True])
def test_it_learns_to_ignore_neighbours_that_are_noise(multilabel: bool) -> None:
    origin = Origin(noisy_neighbours(multilabel), PLAIN)
    operator = replace(QUICK, epochs=60)
    matrix = operator.learned_matrix(origin, operator.learn(origin)).to_scipy().tocoo()
    between = matrix.row != matrix.col
    noise = origin.graph.features[matrix.col, 1] > 0
    assert matrix.data[between & noise].mean() < 0.5 * matrix.data[between & ~noise].mean()


def test_equal_seeds_give_equal_parameters_and_the_random_state_is_left_alone() -> None:
    origin = Origin(noisy_neighbours(), PLAIN)
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    first = QUICK.learn(origin)
    assert torch.rand(1) == expected
    assert (first == QUICK.learn(origin)).all()
    assert (first != replace(QUICK, seed=1).learn(origin)).any()


def test_a_row_is_sampled_only_if_it_is_longer() -> None:
    csr = graph_of([(0, leaf) for leaf in range(1, 40)], 41).adjacency
    rows, entries = sampled_entries(csr, np.array([3, 0, 40]), 16, np.random.default_rng(0))
    assert np.bincount(rows, minlength=3).tolist() == [1, 16, 0]
    assert (np.searchsorted(csr.indptr, entries, "right") - 1 == np.array([3, 0, 40])[rows]).all()


def test_what_cannot_be_learned_is_an_error() -> None:
    with pytest.raises(SignError, match="learned when hops are computed"):
        Attention().matrix(path(2))
    nothing = Graph.from_edges([[0, 1, 2], [1, 2, 0]], np.eye(3), [0, 1, 0])
    with pytest.raises(SignError, match="has no training nodes"):
        Attention().learn(Origin(nothing, PLAIN))
    graph = noisy_neighbours()
    with pytest.raises(SignError, match=r"the loss became nan .* lower its learning_rate, or scale the features"):
        fit(Diverging, Origin(graph, PLAIN), graph.adjacency, Learning(10, 4, 2, 0.01, 0.0, 0))


class Diverging(nn.Module):
    """Its logits are not finite."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, batch: NeighbourBatch) -> torch.Tensor:
        return self.weight * torch.full((len(batch.nodes), 2), torch.inf)
