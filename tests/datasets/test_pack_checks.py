"""Whatever a pack declares, it is one message or a pack, and nothing of a declared size is allocated."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sign.datasets.exported_hops import DESCRIPTION, ExportedHops
from sign.datasets.pack_checks import check_labels, check_rows
from sign.errors import SignError
from sign.graph.classification import Scope
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import SPLITS
from sign.system.hashing import digest

LABELS = {"train": np.array([0, 1]), "val": np.array([1]), "test": np.array([0])}
ROWS = {"train": np.array([0, 2]), "val": np.array([1]), "test": np.array([3])}
SOURCE = {"scope": "full", "features": "a", "scaling": "none", "inductive": False}
SCOPE: dict[str, Any] = {"name": "full", "nodes": 90, "features": 3, "splits": list(SPLITS), "source": SOURCE} | {
    "labels": "digest"
}
PACK: dict[str, Any] = {
    **{"name": "x", "summary": "four nodes", "classes": 2, "multilabel": False, "dtype": "float32"},
    **{"scopes": [SCOPE], "digest": digest(*LABELS.values(), *ROWS.values())},
    **{"feature_scaling": FeatureScaling("none").to_plain(), "feature_names": [], "class_names": []},
}


def write(folder: Path, description: Any) -> ExportedHops:
    for split in SPLITS:
        np.save(folder / f"labels-{split}.npy", LABELS[split])
        np.save(folder / f"rows-full-{split}.npy", ROWS[split])
    (folder / DESCRIPTION).write_text(description if isinstance(description, str) else json.dumps(description))
    return ExportedHops(name="x", path=str(folder))


def test_used_nodes_need_no_memory_for_the_others(tmp_path: Path) -> None:
    (scope,) = write(tmp_path, PACK | {"scopes": [SCOPE | {"nodes": 10**12}]}).classification("none").scopes
    assert scope.used_nodes is not None
    assert scope.used_nodes.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scopes": [SCOPE | {"nodes": 10**15}]}, "nodes=1000000000000000: must be an integer"),
        ({"scopes": [SCOPE | {"nodes": 10**30}]}, "more than 64 bits"),
        ({"scopes": [SCOPE | {"nodes": 3}]}, "has 3 nodes, but node 3 in a split"),
        ({"scopes": [SCOPE | {"features": "many"}]}, "features=many: must be an integer"),
        ({"scopes": [SCOPE | {"name": "../../etc"}]}, "choose one of train, full"),
        ({"scopes": [SCOPE | {"splits": ["train", "../val", "test"]}]}, "do not have the splits train, val, test"),
        ({"scopes": [SCOPE | {"source": {}}]}, "the source of the scope full has no scope"),
        ({"scopes": []}, "do not have the splits"),
        ({"classes": 10**11}, "100000000000 classes for 4 labels"),
        ({"classes": 1}, "the labels of train are not those of 1 classes"),
        ({"multilabel": True}, "the labels of train are int64 of shape"),
        ({"dtype": "float128"}, "choose one of float32, float16"),
        ({"name": 7}, "name=7: must be a non-empty string"),
    ],
)  # fmt: skip
def test_what_contradicts_the_files_is_one_message(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SignError, match=message):
        write(tmp_path, PACK | change).classification("none")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000, "[]", '{"name": "x"}', " " * 2**21])
def test_deep_large_or_incomplete_descriptions_are_one_message(tmp_path: Path, text: str) -> None:
    with pytest.raises(SignError, match=DESCRIPTION.replace(".", r"\.") + "|exported hops"):
        write(tmp_path, text).classification("none")


@pytest.mark.parametrize("shape", [(10**15,), (2**40, 2**40), (10**30,), (10**10,), (1,)])
def test_arrays_that_are_not_in_their_file_are_one_message(tmp_path: Path, shape: tuple[int, ...]) -> None:
    dataset = write(tmp_path, PACK)
    with (tmp_path / "labels-train.npy").open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<i8", "fortran_order": False, "shape": shape})
        stream.write(bytes(16))
    with pytest.raises(SignError, match=r"labels-train.npy declares int64 of shape .*, but has 144 bytes"):
        dataset.classification("none")


@pytest.mark.parametrize(
    ("labels", "multilabel"),
    [([[0, 1]], False), ([0.0, 1.0], False), ([-1, 0], False), ([[0, 2]], True), ([[0, 1, 1]], True), (["a"], False)],
)
def test_labels_of_other_classes_are_refused(labels: list[Any], multilabel: bool) -> None:
    with pytest.raises(ValueError, match="the labels of train are"):
        check_labels({"train": np.array(labels), "val": np.zeros(9, int)}, 2, multilabel)


@pytest.mark.parametrize("rows", [[1, 0], [0, 0], [0, 4], [-1, 0], [0], [0.0, 1.0]])
def test_nodes_that_are_unsorted_duplicated_or_missing_are_refused(rows: list[Any]) -> None:
    scope = Scope("full", 5, 3, {"train": np.array(rows), "val": np.array([4])}, {}, 2, "")
    with pytest.raises(ValueError, match=r"the nodes of|node .* in a split"):
        check_rows(scope, {"train": np.array([0, 1]), "val": np.array([1])})
