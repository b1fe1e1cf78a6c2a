"""Amazon and Coauthor, from the real files where they are and from small ones of the same layout."""

from pathlib import Path

import numpy as np
import pytest
from common.paths import REAL_DATA

from sign.datasets import amazon_coauthor
from sign.datasets.amazon_coauthor import FILES, AmazonCoauthor
from sign.errors import SignError


@pytest.mark.parametrize(
    ("graph", "facts"),
    [("photo", (7650, 238162, 745, 8)), ("computers", (13752, 491722, 767, 10)), ("cs", (18333, 163788, 6805, 15))],
)
def test_the_published_statistics(graph: str, facts: tuple[int, ...]) -> None:
    if not (REAL_DATA / FILES[graph]).is_file():
        pytest.skip(f"{FILES[graph]} is not on this machine")
    loaded = AmazonCoauthor(name=graph, graph=graph, data_dir=str(REAL_DATA)).load()
    found = (loaded.nodes, loaded.adjacency.entries, loaded.features.shape[1], loaded.classes)
    assert found == facts
    assert len(loaded.train) == 20 * facts[3]


def write(folder: Path, **changes: np.ndarray | None) -> AmazonCoauthor:
    arrays = {
        "adj_indptr": np.array([0, 2, 3, 3]),
        "adj_indices": np.array([0, 1, 2]),
        "attr_indptr": np.array([0, 1, 3, 3]),
        "attr_indices": np.array([3, 0, 1]),
        "attr_shape": np.array([3, 4]),
        "labels": np.array([0, 1, 0]),
    }
    file = folder / FILES["photo"]
    file.parent.mkdir(parents=True)
    np.savez(file, **{k: v for k, v in (arrays | changes).items() if v is not None})
    return AmazonCoauthor(
        name="photo", graph="photo", data_dir=str(folder), train_per_class=1, val_per_class=1, check=False
    )


def test_a_small_file_of_the_same_layout(tmp_path: Path) -> None:
    graph = write(tmp_path).load()
    assert graph.adjacency.to_scipy().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.features[:].tolist() == [[0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.array([0, -1, 0])}, "labels are not class indices"),
        ({"labels": np.array([0, 9, 0])}, "labels are not class indices"),
        ({"labels": np.array([], int)}, "labels are not class indices"),
        ({"labels": np.array([0.0, 1.0, 0.0])}, "labels is float64"),
        ({"adj_indices": np.array([0, 1, 3])}, "adj_indices are not in 0 to 2"),
        ({"adj_indices": np.array([0.5, 1, 2])}, "adj_indices is float64"),
        ({"adj_indptr": np.array([0, 2, 1, 3])}, "adj_indptr does not divide 3 entries into 3 rows"),
        ({"attr_indptr": np.array([0, 1, 3])}, "attr_indptr does not divide 3 entries into 3 rows"),
        ({"attr_indices": np.array([4, 0, 1])}, "attr_indices are not in 0 to 3"),
        ({"attr_shape": np.array([3])}, "attr_shape is"),
        ({"attr_indices": np.array([{}, {}, {}])}, "Object arrays cannot be loaded"),
    ],
)
def test_wrong_content_is_reported_in_one_message(tmp_path: Path, change: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(SignError, match=f"photo.npz: cannot be read as a complete data file .*{message}") as caught:
        write(tmp_path, **change).load()
    assert "\n" not in str(caught.value)


def test_files_of_another_size_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(SignError, match=r"have 3 nodes, 2 edges, .* has 7,650 nodes, 119,081 edges, .*check=false"):
        AmazonCoauthor(name="photo", graph="photo", data_dir=str(tmp_path)).load()


def test_a_missing_or_damaged_file_is_reported_in_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amazon_coauthor, "ADDRESS", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SignError, match=r"amazon_electronics_photo.npz missing; copy them there from http"):
        AmazonCoauthor(name="photo", graph="photo", data_dir=str(tmp_path)).load()
    with pytest.raises(SignError, match="cannot be read as a complete data file"):
        write(tmp_path / "a", labels=None).load()
    dataset = write(tmp_path / "b")
    file = tmp_path / "b" / FILES["photo"]
    file.write_bytes(file.read_bytes()[:300])
    with pytest.raises(SignError, match="cannot be read as a complete data file"):
        dataset.load()
