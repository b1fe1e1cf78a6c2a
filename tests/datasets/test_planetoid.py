"""The public splits: statistics of the real files, and what happens to damaged ones."""

import pickle
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import scipy.sparse
from common.paths import REAL_DATA

from sign.datasets import planetoid
from sign.datasets.planetoid import FOLDERS, PARTS, Planetoid
from sign.errors import SignError
from sign.graph.graph import Graph

# nodes, edges, words, classes, training nodes: the published statistics (PyG's documentation has edges twice)
PUBLISHED = {
    "cora": (2708, 5278, 1433, 7, 140),
    "citeseer": (3327, 4552, 3703, 6, 120),
    "pubmed": (19717, 44324, 500, 3, 60),
}


@pytest.mark.parametrize("name", list(PUBLISHED))
@pytest.mark.skipif(not (REAL_DATA / "Planetoid").is_dir(), reason="the real files are not here")
def test_statistics_of_the_real_files(name: str) -> None:
    graph = Planetoid(name=name, graph=name, data_dir=str(REAL_DATA)).load()
    nodes, edges, words, classes, train = PUBLISHED[name]
    assert (graph.nodes, graph.adjacency.entries // 2) == (nodes, edges)
    assert (graph.features.shape, graph.classes) == ((nodes, words), classes)
    assert [len(graph.nodes_of(split)) for split in ("train", "val", "test")] == [train, 500, 1000]
    assert (np.bincount(graph.labels[graph.train]) == 20).all()


# PyG's full split of CiteSeer has 15 nodes without a label as training nodes of class 0
@pytest.mark.parametrize(("graph", "split"), [("citeseer", "public"), ("cora", "full")])
@pytest.mark.skipif(not (REAL_DATA / "Planetoid").is_dir(), reason="the real files are not here")
def test_it_is_what_pyg_reads(
    tmp_path: Path, graph: Literal["cora", "citeseer"], split: Literal["public", "full"]
) -> None:
    from torch_geometric.datasets import Planetoid as Peer

    folder = FOLDERS[graph]
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "raw").symlink_to(REAL_DATA / "Planetoid" / folder / "raw")
    theirs = Peer(str(tmp_path), folder, split)[0]
    ours = Planetoid(name="c", graph=graph, data_dir=str(REAL_DATA), split=split).load()
    assert (ours.features[:] == theirs.x.numpy()).all()
    source, target = theirs.edge_index.numpy()  # sorted by target; the graph is symmetric
    assert (source == ours.adjacency.indices).all()
    assert (target == ours.adjacency.row_indices()).all()
    for part in ("train", "val", "test"):
        nodes = ours.nodes_of(part)
        assert (nodes == np.flatnonzero(theirs[f"{part}_mask"].numpy())).all()
        assert (ours.labels[nodes] == theirs.y.numpy()[nodes]).all()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A small graph in the published layout: 520 known papers, 10 to test of which one has no row."""
    folder = tmp_path / "Planetoid" / "Cora" / "raw"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    index = np.r_[rng.permutation(np.arange(520, 528)), 529]
    words = scipy.sparse.random_array((529, 30), density=0.1, rng=rng, format="csr", dtype=np.float32)
    onehot = np.eye(3, dtype=np.int32)[rng.integers(0, 3, 529)]
    write = {
        "x": as_csr_matrix(words[:15]),
        "allx": as_csr_matrix(words[:520]),
        "tx": as_csr_matrix(words[520:]),
        "y": onehot[:15],
        "ally": onehot[:520],
        "ty": onehot[520:],
        "graph": {i: [int(j) for j in rng.integers(0, 530, 3)] for i in range(530)},
    }
    for name, value in write.items():
        content = pickle.dumps(value, protocol=2)
        content = content.replace(b"scipy.sparse._csr", b"scipy.sparse.csr").replace(b"numpy._core", b"numpy.core")
        (folder / f"ind.cora.{name}").write_bytes(content)
    (folder / "ind.cora.test.index").write_text("\n".join(map(str, index)))
    return tmp_path


def as_csr_matrix(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_matrix:
    return scipy.sparse.csr_matrix(rows)


def load(folder: Path, check: bool = False) -> Graph:
    return Planetoid(name="c", graph="cora", data_dir=str(folder), check=check).load()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planetoid, "ADDRESS", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")


def test_a_paper_without_a_row_is_in_no_split(files: Path) -> None:
    graph = load(files)
    assert graph.nodes == 530
    assert graph.labels[528] == -1
    assert not graph.features[528:529].any()
    assert 528 not in graph.test


@pytest.mark.parametrize("part", PARTS)
def test_missing_and_damaged_files(files: Path, part: str) -> None:
    file = files / "Planetoid" / "Cora" / "raw" / f"ind.cora.{part}"
    content = file.read_bytes()
    file.write_bytes(b"no number" if part == "test.index" else content[: len(content) // 2])
    with pytest.raises(SignError, match=r"cannot be read as"):
        load(files)
    file.unlink()
    with pytest.raises(SignError, match=rf"ind.cora.{part} missing; copy them there from http"):
        load(files)


def test_loading_runs_no_code(files: Path) -> None:
    class Harm:
        def __reduce__(self) -> tuple:
            return Path.touch, (files / "harm",)

    (files / "Planetoid" / "Cora" / "raw" / "ind.cora.y").write_bytes(pickle.dumps(Harm(), protocol=2))
    with pytest.raises(SignError, match="it refers to __builtin__"):
        load(files)
    assert not (files / "harm").exists()


def test_files_of_another_graph_are_refused(files: Path) -> None:
    with pytest.raises(SignError, match=r"the files have 530 nodes.*, the published data set has 2,708 nodes"):
        load(files, check=True)
