"""Look-alikes have the size of what they stand for, and can be learned."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.synthetic.lookalike import SIZES, Lookalike
from sign.errors import FieldError
from sign.system import arrays, memory


@pytest.mark.parametrize("like", list(SIZES))
def test_sizes_are_those_of_the_data_set(like: str) -> None:
    size = SIZES[like]
    scale = max(3000, 12 * size.classes) / size.nodes
    graph = Lookalike(name="look-alike", like=like, scale=scale).load()
    edges = graph.adjacency.entries / (1 if size.directed else 2)
    assert graph.nodes == pytest.approx(size.nodes * scale, rel=0.05)
    assert 0.3 < edges / (size.edges_once * scale) <= 1.001  # small dense graphs draw many edges twice
    assert graph.features.shape[1] == size.features
    assert (graph.classes, graph.multilabel, graph.directed) == (size.classes, size.multilabel, size.directed)
    used = sum(len(graph.nodes_of(split)) for split in ("train", "val", "test"))
    assert used == pytest.approx(size.labelled * graph.nodes, abs=1)
    assert len(graph.train) == pytest.approx(size.split[0] * used, abs=1)


def test_few_edges_of_a_large_graph_are_drawn_twice() -> None:
    graph = Lookalike(name="x", like="wikipedia", scale=0.005).load()
    assert graph.adjacency.entries / 2 / (SIZES["wikipedia"].edges * 0.005) > 0.99
    assert np.diff(graph.adjacency.indptr).max() > 10 * graph.adjacency.entries / graph.nodes


def test_equal_settings_give_equal_graphs_wherever_they_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Lookalike(name="x", like="reddit", scale=0.01).load()
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100_000)
    with memory.limit(0, tmp_path):
        mapped = Lookalike(name="x", like="reddit", scale=0.01).load()
    assert arrays.memory_map(mapped.features) is not None
    assert mapped.features_digest == held.features_digest
    assert mapped.adjacency.digest == held.adjacency.digest
    other = Lookalike(name="x", like="reddit", scale=0.01, seed=1).load()
    assert other.adjacency.digest != held.adjacency.digest


def test_most_edges_join_nodes_of_a_class() -> None:
    graph = Lookalike(name="x", like="ogbn-products", scale=0.002).load()
    csr = graph.adjacency
    assert (graph.labels[csr.row_indices()] == graph.labels[csr.indices]).mean() > 0.6


def test_a_scale_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(FieldError, match=r"leaves .* nodes of ppi"):
        Lookalike(name="x", like="ppi", scale=0.01)
