"""Generated graphs have what they promise."""

from dataclasses import replace

import numpy as np
import pytest

from sign.datasets.synthetic.communities import Communities
from sign.errors import FieldError

SMALL = Communities(nodes=3000, edges=15000, classes=5, features=8)


def test_it_has_the_size_that_was_asked_for() -> None:
    graph = SMALL.load()
    assert graph.nodes == 3000
    assert graph.adjacency.entries == 2 * 15000
    assert graph.features.shape == (3000, 8)
    matrix = graph.adjacency.to_scipy()
    assert (matrix != matrix.T).nnz == 0
    assert matrix.diagonal().sum() == 0


def test_equal_settings_give_equal_graphs_and_the_seed_changes_them() -> None:
    first, again = SMALL.load(), SMALL.load()
    assert first.adjacency.digest == again.adjacency.digest
    assert first.features_digest == again.features_digest
    other = Communities(nodes=3000, edges=15000, classes=5, features=8, seed=1).load()
    assert other.adjacency.digest != first.adjacency.digest


@pytest.mark.parametrize("multilabel", [False, True])
def test_another_sample_has_the_same_communities_and_other_edges(multilabel: bool) -> None:
    first, other = (replace(SMALL, multilabel=multilabel, sample=sample).load() for sample in (0, 1))
    assert other.adjacency.entries == first.adjacency.entries
    assert other.adjacency.digest != first.adjacency.digest
    if multilabel:  # each community has its labels, but for the flipped ones
        common = [{tuple(row) for row, count in zip(*np.unique(graph.labels, axis=0, return_counts=True), strict=True)
                   if count > 300} for graph in (first, other)]  # fmt: skip
        assert common[0] == common[1] != set()
    else:
        centres = [[graph.features[graph.labels == c].mean(axis=0) for c in range(5)] for graph in (first, other)]
        np.testing.assert_allclose(centres[0], centres[1], atol=0.3)


def test_degrees_have_a_heavy_tail() -> None:
    degrees = SMALL.load().adjacency.row_sums
    assert degrees.max() > 10 * degrees.mean()


def test_triangles_are_more_frequent_inside_communities() -> None:
    graph = SMALL.load()
    matrix = graph.adjacency.to_scipy()
    triangles = (matrix @ matrix).multiply(matrix).tocoo()
    inside = graph.labels[triangles.row] == graph.labels[triangles.col]
    edges = graph.adjacency.to_scipy().tocoo()
    same = graph.labels[edges.row] == graph.labels[edges.col]
    per_inner_edge = triangles.data[inside].sum() / same.sum()
    per_outer_edge = triangles.data[~inside].sum() / (~same).sum()
    assert per_inner_edge > 2 * per_outer_edge


def test_features_point_to_the_community() -> None:
    graph = SMALL.load()
    centres = np.stack([graph.features[graph.labels == label].mean(axis=0) for label in range(5)])
    spread = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    assert spread[~np.eye(5, dtype=bool)].min() > 0.2


def test_multilabel_has_several_labels_a_node() -> None:
    graph = Communities(nodes=500, edges=1000, classes=6, multilabel=True).load()
    assert graph.multilabel
    assert graph.labels.shape == (500, 6)
    assert graph.labels.sum(axis=1).max() > 1


@pytest.mark.parametrize(
    "wrong", [{"nodes": 3}, {"edges": 10**9}, {"classes": 9000}, {"train_fraction": 0.8, "val_fraction": 0.3}]
)
def test_what_cannot_be_generated_is_refused(wrong: dict) -> None:
    with pytest.raises(FieldError):
        Communities(**wrong)


@pytest.mark.parametrize("sample", [0, 1])
def test_a_graph_does_not_depend_on_how_many_rows_are_drawn_at_a_time(
    sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replace(SMALL, sample=sample).load()
    monkeypatch.setattr("sign.system.arrays.CHUNK_BYTES", 999)
    blocks = replace(SMALL, sample=sample).load()
    assert blocks.adjacency.digest == whole.adjacency.digest
    assert blocks.features_digest == whole.features_digest
    assert (blocks.labels == whole.labels).all()
