"""Flickr, Reddit, Yelp and PPI, from small files of exactly GraphSAINT's layout, and from damaged ones."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from sign.config.settings import Settings
from sign.datasets import graphsaint
from sign.datasets.graphsaint import FILES, FOLDERS, GraphSAINT
from sign.datasets.statistics import PUBLISHED, Statistics
from sign.errors import SignError
from sign.system import arrays, memory

NODES = 8
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0), (2, 2)]
ROLE = {"tr": [3, 0, 1, 2], "va": [4, 5], "te": [7, 6]}


def write(data_dir: Path, graph: str, **changes: Any) -> GraphSAINT:
    """Files as scipy, numpy and json write them, which is how GraphSAINT's were made."""
    folder = data_dir / FOLDERS[graph]
    folder.mkdir(parents=True)
    both = np.array([*EDGES, *((b, a) for a, b in EDGES if a != b)]).T
    matrix = scipy.sparse.csr_matrix((np.ones(both.shape[1], np.float32), both), (NODES, NODES))
    scipy.sparse.save_npz(folder / "adj_full.npz", matrix)
    size = PUBLISHED[graph]
    rng = np.random.default_rng(0)
    np.save(folder / "feats.npy", changes.get("feats", rng.random((NODES, 3))))
    labels = rng.integers(0, 2, (NODES, size.classes)) if size.multilabel else np.arange(NODES) % size.classes
    classes = {str(node): label for node, label in enumerate(labels.tolist())} | changes.get("classes", {})
    (folder / "class_map.json").write_text(json.dumps(classes))
    (folder / "role.json").write_text(json.dumps(ROLE | changes.get("role", {})))
    return GraphSAINT(name=graph, graph=graph, data_dir=str(data_dir), check=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("graph", list(FOLDERS))
@pytest.mark.parametrize("block", [16, 1 << 24])
def test_small_files_of_the_same_layout(
    tmp_path: Path, graph: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphsaint, "BLOCK", block)  # labels are read in pieces, too
    loaded = write(tmp_path, graph).load()
    folder = tmp_path / FOLDERS[graph]
    expected = scipy.sparse.load_npz(folder / "adj_full.npz").toarray()
    assert (loaded.adjacency.to_scipy().toarray() == expected).all()
    assert loaded.adjacency.to_scipy().diagonal().sum() == 1
    assert (loaded.features == np.load(folder / "feats.npy").astype(np.float32)).all()
    known = json.loads((folder / "class_map.json").read_text())
    assert loaded.labels.tolist() == [known[str(node)] for node in range(NODES)]
    assert loaded.multilabel == PUBLISHED[graph].multilabel
    assert [loaded.train.tolist(), loaded.val.tolist(), loaded.test.tolist()] == [[0, 1, 2, 3], [4, 5], [6, 7]]
    assert loaded.inductive


def test_a_budget_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = write(tmp_path, "yelp")
    held = dataset.load()
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100)
    with memory.limit(0, tmp_path / "scratch"):
        mapped = dataset.load()
    assert arrays.memory_map(mapped.features) is not None
    assert mapped.adjacency.digest == held.adjacency.digest
    assert mapped.features_digest == held.features_digest


@pytest.mark.parametrize("inductive", ["true", "false"])
@pytest.mark.parametrize("graph", list(FOLDERS))
def test_both_protocols(configured: Callable[..., Settings], tmp_path: Path, graph: str, inductive: str) -> None:
    write(tmp_path / "data", graph)
    settings = configured(f"dataset={graph}", "dataset.check=false", f"dataset.inductive={inductive}")
    names = [scope.name for scope in settings.dataset.classification("none").scopes]
    assert names == (["train", "full"] if inductive == "true" else ["full"])
    assert configured(f"dataset={graph}").dataset.inductive


def test_a_missing_file_is_named_with_its_folder_and_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write(tmp_path, "flickr")
    (tmp_path / FOLDERS["flickr"] / "feats.npy").unlink()
    monkeypatch.setattr(graphsaint, "ADDRESS", "http://127.0.0.1:9/{}")
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SignError, match=r"Flickr/raw: feats.npy missing; copy them there from http://.*1join-"):
        dataset.load()
    by_hand = GraphSAINT(name="ppi", graph="ppi", data_dir=str(tmp_path))
    with pytest.raises(SignError, match="PPI/raw: adj_full"):
        by_hand.load()


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_reported_in_one_message(tmp_path: Path, name: str) -> None:
    dataset = write(tmp_path, "yelp")
    file = tmp_path / FOLDERS["yelp"] / name
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(SignError, match=f"{name}: cannot be read as a complete data file .*; download it again$"):
        dataset.load()


@pytest.mark.parametrize(
    ("graph", "change", "message"),
    [
        ("flickr", {"feats": np.array([["a"] * 3] * NODES)}, "it contains <U1 of shape"),
        ("flickr", {"feats": np.array([{}] * NODES)}, "Python objects in dtype"),
        ("flickr", {"feats": np.ones((3, 2))}, "3 rows of features for 8 nodes"),
        ("flickr", {"feats": np.full((NODES, 2), np.nan)}, "feature 0 of node 0 is nan"),
        ("flickr", {"classes": {"2": 7}}, "label 7 of a node in a split is not in 0 to 6"),
        ("flickr", {"classes": {"2": 99999}}, "class_map.json: cannot be read as a complete data file"),
        ("flickr", {"classes": {"2": [1]}}, "for node 2 of 8"),
        ("flickr", {"classes": {"8": 1}}, "for node 8 of 8"),
        ("yelp", {"classes": {"2": [1, 0]}}, "for node 2 of 8"),
        ("yelp", {"classes": {"2": [2] * 100}}, "labels must be a 0/1 matrix with 100 columns"),
        ("flickr", {"role": {"va": [0, 5]}}, "node .* of the val split is also in another split"),
        ("flickr", {"role": {"va": [5, 5]}}, "or one is duplicated"),
        ("flickr", {"role": {"va": [8]}}, "the val split contains a node that does not exist"),
        ("flickr", {"role": {"va": "x"}}, "role.json: cannot be read as a complete data file"),
    ],
)
def test_wrong_content_is_reported_in_one_message(tmp_path: Path, graph: str, change: Any, message: str) -> None:
    with pytest.raises(SignError, match=message):
        write(tmp_path, graph, **change).load()
    assert {path.name for path in (tmp_path / FOLDERS[graph]).iterdir()} == set(FILES)


def test_wrong_members_of_the_adjacency_is_reported_in_one_message(tmp_path: Path) -> None:
    dataset = write(tmp_path, "ppi")
    file = tmp_path / FOLDERS["ppi"] / "adj_full.npz"
    with np.load(file) as raw:
        arrays = dict(raw)
    for name, wrong, message in [
        ("indices", arrays["indices"].astype(np.float32), "indices is float32"),
        ("indices", arrays["indices"] + 1, "an edge refers to node 8"),
        ("indptr", arrays["indptr"][::-1], "does not divide 17 entries"),
        ("indptr", arrays["indptr"][:-1], "7 rows for a matrix of shape"),
        ("indptr", np.array([{}]), "indptr is object"),
    ]:
        np.savez(file, **arrays | {name: wrong})
        with pytest.raises(SignError, match=message):
            dataset.load()
    del arrays["indices"]
    np.savez(file, **arrays)
    with pytest.raises(SignError, match=r"no item named 'indices.npy'"):
        dataset.load()


def test_files_of_another_size_are_refused_with_both_sizes(tmp_path: Path) -> None:
    write(tmp_path, "flickr")
    with pytest.raises(SignError) as refused:
        GraphSAINT(name="flickr", graph="flickr", data_dir=str(tmp_path)).load()
    assert str(refused.value) == (
        "flickr: the files have 8 nodes, 17 edges, 3 features, 7 classes, 50 / 25 / 25 % in the splits, the "
        "published data set has 89,250 nodes, 899,756 edges, 500 features, 7 classes, 50 / 25 / 25 % in the splits; "
        "download them again, or set dataset.check=false to use them as they are"
    )


@pytest.mark.parametrize("edges", [17, 9, 8])  # entries; edges with the loop; edges without it
def test_every_way_of_counting_edges_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edges: int) -> None:
    write(tmp_path, "flickr")
    monkeypatch.setitem(PUBLISHED, "flickr", Statistics(NODES, edges, 3, 7, (0.50, 0.25, 0.25)))
    labelled = GraphSAINT(name="flickr", graph="flickr", data_dir=str(tmp_path))
    assert labelled.load().nodes == NODES
    monkeypatch.setitem(PUBLISHED, "flickr", Statistics(NODES, edges, 3, 7, (0.50, 0.30, 0.20)))
    with pytest.raises(SignError, match="50 / 30 / 20 %"):
        labelled.load()
