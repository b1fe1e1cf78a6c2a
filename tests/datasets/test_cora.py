"""The embedded citation graph."""

from importlib.resources import files

import numpy as np
import pytest

from sign.datasets.cora import Cora


def test_the_facts_of_cora() -> None:
    graph = Cora(directed=True).load()
    assert (graph.nodes, graph.adjacency.entries, graph.classes) == (2708, 5429, 7)
    assert graph.features.shape == (2708, 1433)
    assert set(np.unique(graph.features)) == {0.0, 1.0}
    assert np.bincount(graph.labels).tolist() == [818, 180, 217, 426, 351, 418, 298]


def test_undirected_cora_is_symmetric_with_weights_of_one() -> None:
    matrix = Cora().load().adjacency.to_scipy()
    assert matrix.nnz == 2 * 5278
    assert (matrix != matrix.T).nnz == 0
    assert set(matrix.data) == {1.0}


def test_the_file_is_small_and_needs_no_pickle() -> None:
    file = files("sign.datasets").joinpath("files/cora.npz")
    assert len(file.read_bytes()) < 200_000
    with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_split_has_20_and_30_nodes_of_each_class(seed: int) -> None:
    graph = Cora(split_seed=seed).load()
    assert np.bincount(graph.labels[graph.train]).tolist() == [20] * 7
    assert np.bincount(graph.labels[graph.val]).tolist() == [30] * 7
    assert len(graph.train) + len(graph.val) + len(graph.test) == graph.nodes


def test_the_seed_draws_the_split() -> None:
    first, again, other = (Cora(split_seed=seed).load() for seed in (1, 1, 2))
    assert (first.train == again.train).all()
    assert (first.train != other.train).any()
