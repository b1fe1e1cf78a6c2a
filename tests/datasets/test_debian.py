"""The embedded graph of Debian's packages."""

import hashlib
import io
import runpy
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from common.paths import REPOSITORY

from sign.config.settings import Settings
from sign.datasets import debian
from sign.datasets.debian import FILE, SHA256, Debian
from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.graph import SPLITS, Graph

TASKS = ("sections", "tags")
EMBED = REPOSITORY / "tools" / "embed_debian.py"


@cache
def loaded(labels: str) -> Graph:
    return Debian(labels=labels).load()


@pytest.mark.parametrize(
    ("labels", "classes", "split"), [("sections", 54, (31779, 15960, 15616)), ("tags", 100, (15122, 7812, 7233))]
)
def test_the_facts_of_debian(labels: str, classes: int, split: tuple[int, ...]) -> None:
    graph = loaded(labels)
    assert (graph.nodes, graph.edges, graph.features.shape[1], graph.classes) == (63436, 326167, 2170, classes)
    assert tuple(len(graph.nodes_of(name)) for name in SPLITS) == split
    assert graph.directed
    assert graph.adjacency.self_loops == 0
    assert graph.adjacency.weights is None
    assert len(graph.features.indices) == 293343


def test_packages_sections_and_tags_have_their_names() -> None:
    sections, tags = map(loaded, TASKS)
    node = sections.node_ids.tolist().index("python3-numpy")
    assert sections.class_names[sections.labels[node]] == "python"
    game = sections.node_ids.tolist().index("0ad")
    assert "role::program" in {tags.class_names[tag] for tag in np.flatnonzero(tags.labels[game] == 1)}
    row = slice(*sections.adjacency.indptr[[game, game + 1]])
    assert "0ad-data" in sections.node_ids[sections.adjacency.indices[row]]


def test_packages_without_a_label_are_in_no_split() -> None:
    sections, tags = map(loaded, TASKS)
    assert (sections.labels < 0).sum() == 81
    labelled = (tags.labels >= 0).all(axis=1)
    assert labelled.sum() == 30167
    assert (tags.labels[labelled].sum(axis=1) >= 1).all()
    assert (tags.labels[~labelled] == -1).all()
    assert labelled.sum() == sum(len(tags.nodes_of(name)) for name in SPLITS)


def test_both_tasks_have_the_same_split() -> None:
    sections, tags = map(loaded, TASKS)
    for name in SPLITS:
        others = np.concatenate([tags.nodes_of(other) for other in SPLITS if other != name])
        assert not np.isin(sections.nodes_of(name), others).any()


def test_packages_of_one_source_are_in_one_group() -> None:
    sections, tags = map(loaded, TASKS)
    np.testing.assert_array_equal(sections.groups, tags.groups)
    names = sections.node_ids.tolist()
    for one, other in (("389-ds", "python3-lib389"), ("4ti2", "lib4ti2-dev"), ("0ad-data", "0ad-data-common")):
        assert sections.groups[names.index(one)] == sections.groups[names.index(other)]
    assert sections.groups[names.index("0ad")] != sections.groups[names.index("python3-numpy")]
    split = np.full(sections.nodes, -1)
    for number, name in enumerate(SPLITS):
        for graph in (sections, tags):
            split[graph.nodes_of(name)] = number
    labelled = np.flatnonzero(split >= 0)
    changes = np.diff(split[labelled]) != 0  # neighbours in the index
    np.testing.assert_array_equal(np.diff(sections.groups[labelled]), changes)


def test_inductive_training_sees_training_packages_only() -> None:
    graph = Debian(labels="tags", inductive=True).load()
    training, full = classification_of(graph).scopes
    assert (training.name, training.nodes, full.name, full.nodes) == ("train", 15122, "full", 63436)
    inner = training.origin.graph
    assert (inner.node_ids == graph.node_ids[graph.train]).all()
    source = np.repeat(np.arange(graph.nodes), np.diff(graph.adjacency.indptr))
    assert inner.edges == np.isin([source, graph.adjacency.indices], graph.train).all(axis=0).sum()
    assert len(classification_of(loaded("tags")).scopes) == 1


def test_the_file_is_small_and_needs_no_pickle() -> None:
    content = FILE.read_bytes()
    assert len(content) <= 2_000_000
    assert hashlib.sha256(content).hexdigest() == SHA256
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files} == {"u", "S"}


def damaged() -> bytes:
    content = bytearray(FILE.read_bytes())
    content[len(content) // 2] ^= 1
    return bytes(content)


@pytest.mark.parametrize(
    "content", [damaged(), FILE.read_bytes()[:1000], b"", None], ids=["bit", "cut", "empty", "none"]
)
def test_a_damaged_file_is_one_message(content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "debian.npz"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(debian, "FILE", file)
    with pytest.raises(SignError) as caught:
        Debian().load()
    assert str(caught.value) == f"{file}: is damaged or missing; install the package again"


def test_the_task_is_a_setting_and_a_part_of_the_name(configured: Callable[..., Settings]) -> None:
    assert configured("dataset=debian").dataset == Debian(name="debian-sections")
    inductive = configured("dataset=debian", "dataset.labels=tags", "dataset.inductive=true").dataset
    assert inductive == Debian(name="debian-tags", labels="tags", inductive=True)
    with pytest.raises(SignError, match=r"^dataset.labels=words: choose one of sections, tags$"):
        configured("dataset=debian", "dataset.labels=words")


def write_folder(folder: Path) -> None:
    """Three packages in the layout that the file is made from; the last has no section."""
    (folder / "names.txt").write_text("a\nb\nc\n")
    (folder / "tags.txt").write_text("use::x\nuse::y\n")
    splits = {"Sections": ([0], [1], []), "Tags": ([0], [], [2])}
    for name, split in splits.items():
        (folder / name).mkdir()
        for part, nodes in zip(SPLITS, split, strict=True):
            np.save(folder / name / f"{part}.npy", np.array(nodes, np.int32))
    np.save(folder / "Sections" / "edges.npy", np.array([[1, 2], [0, 2], [0, 1]], np.int32))
    scipy.sparse.save_npz(folder / "Sections" / "features.npz", scipy.sparse.csr_array([[0, 1.0], [1, 1], [0, 0]]))
    (folder / "Sections" / "labels.csv").write_text('label\nnet\nadmin\n""\n')
    np.save(folder / "Tags" / "labels.npy", np.array([[1, 0], [0, 0], [1, 1]], np.int8))


def test_the_file_is_made_from_a_folder_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path)
    contents = []
    for name in ("first.npz", "again.npz"):
        monkeypatch.setattr(sys, "argv", ["", str(tmp_path), str(tmp_path / name)])
        runpy.run_path(str(EMBED), run_name="__main__")
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    monkeypatch.setattr(debian, "FILE", tmp_path / "first.npz")
    monkeypatch.setattr(debian, "SHA256", hashlib.sha256(contents[0]).hexdigest())
    monkeypatch.setattr(debian, "VOCABULARY", 2)
    sections, tags = (Debian(labels=task).load() for task in TASKS)
    assert sections.adjacency.to_scipy().toarray().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert sections.features[:].tolist() == [[0, 1], [1, 1], [0, 0]]
    assert (sections.class_names, sections.labels.tolist()) == (("admin", "net"), [1, 0, -1])
    assert (tags.class_names, tags.labels.tolist()) == (("use::x", "use::y"), [[1, 0], [-1, -1], [1, 1]])
    assert [sections.nodes_of(name).tolist() for name in SPLITS] == [[0], [1], []]
    assert [tags.nodes_of(name).tolist() for name in SPLITS] == [[0], [], [2]]
    assert sections.node_ids.tolist() == ["a", "b", "c"]
