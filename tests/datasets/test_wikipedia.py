"""KONECT's link file: read, made undirected, and given random features."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sign.config.settings import Settings
from sign.datasets import wikipedia
from sign.datasets.statistics import PUBLISHED, Statistics
from sign.datasets.wikipedia import FILE, FOLDER, Wikipedia
from sign.errors import SignError

TEXT = "% asym unweighted\n% 5 6 6\n1 2\n2 1\n3 4\n6 6\n5 3\n"


def write(data_dir: Path, text: str = TEXT) -> Wikipedia:
    (data_dir / FOLDER).mkdir(parents=True)
    (data_dir / FOLDER / FILE).write_text(text)
    return Wikipedia(data_dir=str(data_dir), features=4, check=False)


@pytest.mark.parametrize("block", [3, 1 << 24])
@pytest.mark.parametrize("text", [TEXT, TEXT.replace(" ", "\t"), TEXT.replace("\n", " 1\n").rstrip("\n")], ids=repr)
def test_a_small_file_of_the_same_layout(
    tmp_path: Path, text: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wikipedia, "BLOCK", block)
    graph = write(tmp_path, text).load()
    expected = np.zeros((6, 6))
    for one, other in ((0, 1), (2, 3), (5, 5), (4, 2)):
        expected[one, other] = expected[other, one] = 1
    assert (graph.adjacency.to_scipy().toarray() == expected).all()
    assert graph.features.shape == (6, 4)
    assert set(graph.labels.tolist()) <= {0, 1}
    assert [len(graph.train), len(graph.val), len(graph.test)] == [3, 1, 2]


def test_the_seed_draws_features_and_labels(tmp_path: Path) -> None:
    write(tmp_path)
    one, same, other = (Wikipedia(data_dir=str(tmp_path), check=False, seed=seed).load() for seed in (0, 0, 1))
    assert one.features.shape == (6, 100)
    assert one.features_digest == same.features_digest != other.features_digest


@pytest.mark.parametrize("inductive", ["true", "false"])
def test_both_protocols(configured: Callable[..., Settings], tmp_path: Path, inductive: str) -> None:
    write(tmp_path / "data")
    settings = configured("dataset=wikipedia", "dataset.check=false", f"dataset.inductive={inductive}")
    assert len(settings.dataset.classification("none").scopes) == 1 + (inductive == "true")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no rows"),
        ("% only a comment\n", "it has no rows"),
        ("1\n2\n", "columns like the first"),
        ("1 2\n3\n", "columns like the first"),
        ("1 2\nx 3\n", "something else than integers"),
        ("1 2\n0 3\n", "nodes are numbered from 1"),
    ],
)
def test_a_damaged_file_is_reported_in_one_message(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SignError, match=f"cannot be read as a complete data file .*{message}.*; download it again$"):
        write(tmp_path, text).load()
    assert {file.name for file in (tmp_path / FOLDER / "arrays").iterdir()} == {".lock"}


def test_a_missing_file_is_named_with_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wikipedia, "ADDRESS", "http://127.0.0.1:9/x.tar.bz2")
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SignError, match=f"{FOLDER}: {FILE} missing; copy them there from http://127"):
        Wikipedia(data_dir=str(tmp_path)).load()


def test_files_of_another_size_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    with pytest.raises(SignError, match=r"have 6 nodes, 5 edges, .* has 12,150,976 nodes, 378,142,420 edges"):
        Wikipedia(data_dir=str(tmp_path)).load()
    monkeypatch.setitem(PUBLISHED, "wikipedia", Statistics(6, 5, 100, 2))
    assert Wikipedia(data_dir=str(tmp_path)).load().nodes == 6
