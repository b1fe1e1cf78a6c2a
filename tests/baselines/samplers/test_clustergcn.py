"""Clusters cover every node once, and batches are the subgraphs that they induce."""

import sys
from itertools import combinations

import numpy as np
import pytest
from common.sampling import random_matrix, row_normalized, same

from sign.baselines.samplers.clustergcn import ClusterSampler, metis
from sign.errors import SignError
from sign.graph.csr import CSR

pytest.importorskip("pymetis")
MATRIX = random_matrix(60, 300)
CLIQUES = [*combinations(range(5), 2), *combinations(range(5, 10), 2), (4, 5)]


def sampler(clusters: np.ndarray, per_batch: int = 1, **options: object) -> ClusterSampler:
    options = {"adjacency": MATRIX, "targets": np.arange(0, 60, 2), **options}
    return ClusterSampler(**options, clusters=clusters, clusters_per_batch=per_batch)  # type: ignore[arg-type]


@pytest.mark.parametrize("directed", [False, True])
def test_metis_cuts_the_edge_between_two_cliques(directed: bool) -> None:
    first, second = np.split(metis(row_normalized(CLIQUES, 10, directed), 2), [5])
    assert len({*first}) == len({*second}) == 1
    assert first[0] != second[0]


def test_every_node_has_one_cluster_and_the_sizes_are_balanced() -> None:
    clusters = metis(MATRIX, 6)
    assert np.unique(clusters).tolist() == list(range(6))
    assert np.bincount(clusters).max() <= 15
    assert np.array_equal(clusters, metis(MATRIX, 6))
    assert not metis(MATRIX, 1).any()


def test_clusters_are_numbered_without_gaps() -> None:
    star = row_normalized([(0, node) for node in range(1, 12)], 12)
    clusters = metis(star, 9)
    assert np.unique(clusters).tolist() == list(range(clusters.max() + 1))


def test_an_epoch_has_every_node_once_with_the_edges_between_its_clusters() -> None:
    clusters, full = metis(MATRIX, 6), MATRIX.to_scipy()
    epochs = [list(sampler(clusters, 4).epoch(number)) for number in (0, 1)]
    for batches in epochs:
        assert len(batches) == len(sampler(clusters, 4)) == 2
        assert np.array_equal(np.sort(np.concatenate([batch.nodes for batch in batches])), np.arange(60))
        for batch in batches:
            assert set(np.flatnonzero(np.isin(clusters, clusters[batch.nodes]))) == set(batch.nodes)
            expected = full[batch.nodes][:, batch.nodes].toarray()
            np.testing.assert_array_equal(batch.block.to_scipy().toarray(), expected)
            assert np.array_equal(batch.nodes[batch.targets], batch.nodes[batch.nodes % 2 == 0])
            np.testing.assert_allclose(batch.loss_weights, 1 / len(batch.targets))
    assert not same(*epochs)


def test_a_batch_may_have_no_targets() -> None:
    batches = list(sampler(metis(MATRIX, 6), targets=np.array([7])).epoch(0))
    assert sorted(len(batch.targets) for batch in batches) == [0, 0, 0, 0, 0, 1]
    assert all(len(batch.loss_weights) == len(batch.targets) for batch in batches)


@pytest.mark.parametrize("clusters", [0, 61])
def test_more_clusters_than_nodes(clusters: int) -> None:
    with pytest.raises(SignError, match=f"clusters={clusters}: must be from 1 to the number of nodes, 60"):
        metis(MATRIX, clusters)


def test_a_graph_without_edges() -> None:
    empty = CSR(np.zeros(4, np.int64), np.empty(0, np.int32))
    with pytest.raises(SignError, match="a graph of 3 nodes without edges cannot be sampled"):
        metis(empty, 2)
    loops = CSR(np.arange(4), np.arange(3, dtype=np.int32))
    with pytest.raises(SignError, match="a graph of 3 nodes without edges cannot be sampled"):
        metis(loops, 2)


def test_a_missing_pymetis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(SignError, match=r"ClusterGCN needs METIS: pip install 'sign-gnn\[baselines\]'"):
        metis(MATRIX, 2)


def test_bad_clusters() -> None:
    with pytest.raises(SignError, match=r"clusters=\(3,\): must have one cluster per node, 60"):
        sampler(np.zeros(3, np.int64))
    with pytest.raises(SignError, match="clusters_per_batch=0: must be an integer >= 1"):
        sampler(np.zeros(60, np.int64), 0)
