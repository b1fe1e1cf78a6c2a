"""Features of a graph without any: deterministic, and degrees of training nodes do not see held-out edges."""

import numpy as np
import pytest

from sign.datasets.custom.generated_features import BINS, degree_features, one_hot_features, random_features
from sign.errors import SignError
from sign.graph.csr import CSR
from sign.testing import graph_of

STAR = [(0, 1), (0, 2), (0, 3), (3, 3)]


def test_degrees_of_a_star_without_its_self_loop() -> None:
    features, names = degree_features(graph_of(STAR, 5).adjacency, False, None)
    degrees = np.array([3, 1, 1, 1, 0])
    np.testing.assert_allclose(features[:, 0], np.log1p(degrees), rtol=1e-6)
    assert features.shape == (5, BINS + 1)
    assert [names[column] for column in features[:, 1:].argmax(axis=1) + 1] == [
        "degree of 3 to 6",
        *["degree of 1 to 2"] * 3,
        "degree of 0 to 0",
    ]
    assert (features[:, 1:].sum(axis=1) == 1).all()


def test_directed_graphs_have_degrees_of_both_directions() -> None:
    features, names = degree_features(graph_of(STAR, 5, directed=True).adjacency, True, None)
    np.testing.assert_allclose(features[:, 0], np.log1p([3, 0, 0, 0, 0]), rtol=1e-6)
    np.testing.assert_allclose(features[:, BINS + 1], np.log1p([0, 1, 1, 1, 0]), rtol=1e-6)
    assert len(names) == features.shape[1] == 2 * (BINS + 1)


def test_the_largest_degrees_share_a_bin() -> None:
    nodes = 40_000
    hub = CSR.from_edges(np.zeros(nodes - 1, np.int64), np.arange(1, nodes), nodes, both=True)
    features, names = degree_features(hub, False, None)
    assert names[features[0, 1:].argmax() + 1] == "degree of 32767 or more"


def test_degrees_of_training_nodes_do_not_depend_on_held_out_edges() -> None:
    train = np.array([0, 1, 2])
    one, two = (
        degree_features(graph_of(edges, 6).adjacency, False, train)[0]
        for edges in ([(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (0, 3), (0, 4), (4, 5)])
    )
    np.testing.assert_array_equal(one[train], two[train])
    assert (one != two).any()


def test_one_hot_features_are_the_identity_of_a_small_graph() -> None:
    assert one_hot_features(4)[:].tolist() == np.eye(4).tolist()
    with pytest.raises(SignError, match=r"one_hot: a graph of 20,001 nodes .* or dataset.generate_features=random"):
        one_hot_features(20_001)


def test_random_features_depend_on_the_seed_and_on_the_node_alone() -> None:
    ids = np.array([f"n{node}" for node in range(5000)], np.dtypes.StringDType())
    one, again, other = (random_features(5000, ids, 8, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).all()
    np.testing.assert_array_equal(random_features(4000, ids[1000:], 8, 1), one[1000:])
    np.testing.assert_array_equal(random_features(10, None, 8, 1), random_features(20, None, 8, 1)[:10])
    np.testing.assert_allclose(one.mean(axis=0), 0, atol=0.06)
    np.testing.assert_allclose(np.cov(one.T), np.eye(8), atol=0.08)
