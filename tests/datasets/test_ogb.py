"""OGB's data sets, from small files of exactly its raw layout, and from damaged ones."""

import gzip
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sign.config.settings import Settings
from sign.datasets import array_cache, ogb, raw_files
from sign.datasets.base import Dataset
from sign.datasets.ogb import OGB, SPLITS
from sign.datasets.statistics import PUBLISHED, Statistics
from sign.errors import FieldError, SignError
from sign.experiments.run import run
from sign.system import arrays, memory
from sign.training import node_task

NODES, EDGES, FEATURES = 40, 90, 5
GRAPHS = list(SPLITS)
PARTS = {"train": range(20), "valid": range(20, 30), "test": range(30, 36)}


def contents(graph: str) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 40, (NODES, 1)).astype(np.float32)
    if graph == "papers100M":
        labels[36:] = np.nan
    return {
        "edges": rng.integers(0, NODES, (2, EDGES)),
        "features": rng.standard_normal((NODES, FEATURES)).astype(np.float32),
        "labels": labels,
        "nodes": np.array([NODES]),
    }


def packed(file: Path, rows: np.ndarray) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress("".join(",".join(map(str, row)) + "\n" for row in rows.tolist()).encode()))


def write(data_dir: Path, graph: str, compressed: bool = True, **changes: Any) -> OGB:
    given = contents(graph) | changes
    folder = data_dir / f"ogbn_{graph}"
    if graph == "papers100M":
        (folder / "raw").mkdir(parents=True)
        save = np.savez_compressed if compressed else np.savez
        save(
            folder / "raw" / "data.npz",
            edge_index=given["edges"],
            node_feat=given["features"],
            num_nodes_list=given["nodes"],
            num_edges_list=np.array([EDGES]),
            node_year=np.zeros((NODES, 1), np.int64),
        )
        save(folder / "raw" / "node-label.npz", node_label=given["labels"])
    else:
        packed(folder / "raw" / "edge.csv.gz", given["edges"].T)
        packed(folder / "raw" / "node-feat.csv.gz", given["features"])
        packed(folder / "raw" / "node-label.csv.gz", given["labels"].astype(int))
        packed(folder / "raw" / "num-node-list.csv.gz", given["nodes"][:, None])
    for part, nodes in (PARTS | given.get("splits", {})).items():
        packed(folder / "split" / SPLITS[graph] / f"{part}.csv.gz", np.array(nodes)[:, None])
    directed = graph == "papers100M"
    return OGB(name=graph, graph=graph, data_dir=str(data_dir), directed=directed, check=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("block", [100, 1 << 24])
def test_small_files_of_the_same_layout(
    tmp_path: Path, graph: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_files, "BLOCK", block)
    given, loaded = contents(graph), write(tmp_path, graph).load()
    expected = np.zeros((NODES, NODES))
    source, target = given["edges"]
    expected[source, target] = 1
    if not loaded.directed:
        expected = np.maximum(expected, expected.T)
    assert (loaded.adjacency.to_scipy().toarray() == expected).all()
    assert loaded.features == pytest.approx(given["features"], abs=1e-7)
    assert (loaded.labels == np.nan_to_num(given["labels"][:, 0], nan=-1)).all()
    assert loaded.classes == PUBLISHED[f"ogbn-{graph}"].classes
    assert [len(loaded.train), len(loaded.val), len(loaded.test)] == [20, 10, 6]
    assert not loaded.inductive


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_budget_changes_nothing(tmp_path: Path, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = write(tmp_path, graph)
    held = dataset.load()
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100)
    with memory.limit(0, tmp_path / "scratch"):
        mapped = dataset.load()
    assert arrays.memory_map(mapped.adjacency.indices) is not None
    assert mapped.adjacency.digest == held.adjacency.digest
    assert mapped.features_digest == held.features_digest


@pytest.mark.parametrize("inductive", ["true", "false"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_both_protocols(configured: Callable[..., Settings], tmp_path: Path, graph: str, inductive: str) -> None:
    write(tmp_path / "data", graph)
    settings = configured(f"dataset=ogbn-{graph}", "dataset.check=false", f"dataset.inductive={inductive}")
    names = [scope.name for scope in settings.dataset.classification("none").scopes]
    assert names == (["train", "full"] if inductive == "true" else ["full"])


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["products", "arxiv"])
def test_ogbs_evaluator_computes_the_accuracy_without_the_network(
    configured: Callable[..., Settings], tmp_path: Path, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data", graph)
    small = ("model.inception_units=8", "model.classification_units=8", "training.batch_size=8")
    settings = configured(f"dataset=ogbn-{graph}", "dataset.check=false", *small, "training.max_epochs=2")
    evaluated, accuracy = [], node_task.ogb_accuracy
    monkeypatch.setattr(node_task, "ogb_accuracy", lambda *values: evaluated.append(values) or accuracy(*values))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the network was used"))
    by_ogb = run(settings)
    assert [(name, len(labels)) for name, _, labels in evaluated] == [
        (f"ogbn-{graph}", len(nodes)) for nodes in PARTS.values()
    ]
    monkeypatch.setattr(OGB, "classification", Dataset.classification)
    counted = run(settings)
    assert len(evaluated) == 3
    for split in ("train", "val", "test"):
        for name in ("accuracy", "macro_f1", "roc_auc", "loss"):
            assert by_ogb[f"{split}/{name}"] == counted[f"{split}/{name}"]


def test_directions_are_a_setting(tmp_path: Path) -> None:
    write(tmp_path, "arxiv")
    cited = OGB(name="x", graph="arxiv", data_dir=str(tmp_path), directed=True, check=False).load()
    assert cited.directed
    assert cited.adjacency.entries == len(set(zip(*contents("arxiv")["edges"].tolist(), strict=True)))
    with pytest.raises(FieldError, match="a co-purchase graph has no direction"):
        OGB(name="x", graph="products", data_dir=str(tmp_path), directed=True)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compressed", [True, False])
def test_the_npz_may_be_compressed_and_its_edges_in_either_order(tmp_path: Path, order: Any, compressed: bool) -> None:
    edges = np.asarray(contents("papers100M")["edges"], order=order)
    loaded = write(tmp_path / "a", "papers100M", compressed, edges=edges).load()
    assert loaded.adjacency.digest == write(tmp_path / "b", "papers100M").load().adjacency.digest


@pytest.mark.parametrize("graph", GRAPHS)
def test_what_was_read_once_is_mapped_until_the_raw_file_changes(tmp_path: Path, graph: str) -> None:
    dataset = write(tmp_path, graph)
    first = dataset.load()
    cache = tmp_path / f"ogbn_{graph}" / "arrays"
    kept = {file: file.stat().st_mtime_ns for file in cache.glob("*.npy")}
    assert {file.name.split("-")[0] for file in kept} == {"source", "target", "features", "labels"}
    again = dataset.load()
    assert arrays.memory_map(again.features) is not None
    assert again.features_digest == first.features_digest
    assert {file: file.stat().st_mtime_ns for file in cache.glob("*.npy")} == kept
    for file in (tmp_path / f"ogbn_{graph}" / "raw").iterdir():
        os.utime(file, ns=(1, 1))
    assert dataset.load().features_digest == first.features_digest
    renewed = set(cache.glob("*.npy"))
    assert len(renewed) == 4
    assert not renewed & set(kept)


def test_a_conversion_that_is_interrupted_is_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = write(tmp_path, "papers100M")
    monkeypatch.setattr(raw_files, "BLOCK", 100)
    whole = array_cache.NpyWriter.append
    calls = []

    def interrupted(self: array_cache.NpyWriter, rows: np.ndarray) -> None:
        calls.append(rows)
        if len(calls) == 5:
            raise KeyboardInterrupt
        whole(self, rows)

    monkeypatch.setattr(array_cache.NpyWriter, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dataset.load()
    arrays = tmp_path / "ogbn_papers100M" / "arrays"
    assert {file.name for file in arrays.iterdir()} == {".lock"}
    (arrays / "source-1-1.part").write_bytes(b"what a killed run leaves")
    monkeypatch.setattr(array_cache.NpyWriter, "append", whole)
    assert dataset.load().nodes == NODES
    assert not list(arrays.glob("*.part"))


@pytest.mark.parametrize(
    ("graph", "name"),
    [
        *((graph, name) for graph in ("products", "arxiv") for name in ogb.TEXT),
        *(("papers100M", name) for name in ogb.BINARY),
    ],
)
def test_a_truncated_or_missing_file_is_reported_in_one_message(tmp_path: Path, graph: str, name: str) -> None:
    dataset = write(tmp_path, graph)
    file = tmp_path / f"ogbn_{graph}" / "raw" / name
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(SignError, match=f"{name}: cannot be read as a complete data file .*; download it again$"):
        dataset.load()
    assert not list(tmp_path.rglob("*.part"))
    file.unlink()
    with pytest.raises(SignError, match=f"ogbn_{graph}: raw/{name} missing; copy them there from http://snap"):
        dataset.load()


def test_a_changed_byte_is_found_by_the_checksum(tmp_path: Path) -> None:
    dataset = write(tmp_path, "papers100M", compressed=False)
    file = tmp_path / "ogbn_papers100M" / "raw" / "data.npz"
    content = bytearray(file.read_bytes())
    place = content.index(contents("papers100M")["features"].tobytes())
    content[place + 3] ^= 1
    file.write_bytes(content)
    with pytest.raises(SignError, match="Bad CRC-32"):
        dataset.load()
    assert not list(tmp_path.rglob("features-*"))


BAD = contents("papers100M")


@pytest.mark.parametrize(
    ("graph", "change", "message"),
    [
        ("papers100M", {"features": BAD["features"].astype(int)}, "node_feat is int64"),
        ("papers100M", {"features": BAD["features"].astype(object)}, "node_feat is object"),
        ("papers100M", {"features": np.asarray(BAD["features"], order="F")}, "node_feat is in Fortran order"),
        ("papers100M", {"edges": BAD["edges"].astype(float)}, "edge_index is float64"),
        ("papers100M", {"edges": BAD["edges"].T.copy()}, "edge_index has shape"),
        ("papers100M", {"edges": BAD["edges"] + 1}, "an edge refers to node 40, but nodes"),
        ("papers100M", {"nodes": np.array([20, 20])}, "instead of one graph"),
        ("papers100M", {"labels": BAD["labels"] + 150}, "is not in 0 to 171"),
        ("papers100M", {"splits": {"test": range(34, 38)}}, "label -1 of a node in a split"),
        ("papers100M", {"features": BAD["features"][1:]}, "39 rows of features for 40 nodes"),
        ("products", {"labels": np.full((NODES, 1), 47)}, "label 47 is not in 0 to 46"),
        ("arxiv", {"labels": np.full((NODES, 1), -1)}, "label -1 is not in 0 to 39"),
        ("arxiv", {"edges": BAD["edges"] - 1}, "an edge refers to node -1"),
        ("arxiv", {"edges": BAD["edges"] + 0.5}, "edge.csv.gz: cannot be read as a complete data file"),
        ("arxiv", {"edges": np.ones((3, 4), int)}, "edge.csv.gz: cannot be read as a complete data file"),
        ("arxiv", {"features": np.array([["x"]])}, "node-feat.csv.gz: cannot be read as a complete data file"),
        ("arxiv", {"features": BAD["features"] * np.nan}, "feature 0 of node 0 is nan"),
        ("products", {"splits": {"valid": range(19, 30)}}, "node .* of the val split is also in another split"),
        ("products", {"splits": {"valid": [40]}}, "contains a node that does not exist"),
    ],
)
def test_wrong_content_is_reported_in_one_message(tmp_path: Path, graph: str, change: Any, message: str) -> None:
    with pytest.raises(SignError, match=message):
        write(tmp_path, graph, **change).load()
    assert not list(tmp_path.rglob("*.part"))


def test_files_of_another_size_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "arxiv")
    strict = OGB(name="ogbn-arxiv", graph="arxiv", data_dir=str(tmp_path))
    with pytest.raises(SignError, match=r"have 40 nodes, 90 edges, .* has 169,343 nodes, 1,166,243 edges"):
        strict.load()
    classes = int(contents("arxiv")["labels"].max()) + 1
    sizes = Statistics(NODES, EDGES, FEATURES, classes, (0.5, 0.3, 0.2), files_split=(0.56, 0.28, 0.17))
    monkeypatch.setitem(PUBLISHED, "ogbn-arxiv", sizes)
    assert strict.load().nodes == NODES


def test_a_folder_that_cannot_be_written_is_reported_in_one_message(tmp_path: Path) -> None:
    dataset = write(tmp_path, "products")
    (tmp_path / "ogbn_products" / "arrays").write_text("in the way")
    with pytest.raises(SignError, match="arrays: not writable"):
        dataset.load()
