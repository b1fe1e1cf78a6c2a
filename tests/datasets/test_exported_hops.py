"""Exported hops have labels, splits and scopes, but no graph."""

import json
from pathlib import Path

import numpy as np
import pytest

from sign.datasets.exported_hops import DESCRIPTION, HOPS, LABELS, ROWS, ExportedHops
from sign.errors import SignError
from sign.graph.feature_scaling import FeatureScaling
from sign.graph.graph import SPLITS
from sign.system.hashing import digest

LABELS_OF = {"train": np.array([0, 1]), "val": np.array([1]), "test": np.array([0])}
ROWS_OF = {"train": np.array([0, 2]), "val": np.array([1]), "test": np.array([3])}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split in SPLITS:
        np.save(tmp_path / LABELS.format(split=split), LABELS_OF[split])
        np.save(tmp_path / ROWS.format(scope="full", split=split), ROWS_OF[split])
    source = {"scope": "full", "features": "a", "scaling": "none", "inductive": False}
    scope = {"name": "full", "nodes": 4, "features": 3, "splits": SPLITS, "source": source, "labels": "b"}
    description = {
        **{"name": "x", "summary": "4 nodes", "classes": 2, "multilabel": False, "dtype": "float32"},
        **{"scopes": [scope], "feature_scaling": FeatureScaling("none").to_plain()},
        **{"class_names": ["a", "b"], "feature_names": []},
        "digest": digest(*(LABELS_OF[split] for split in SPLITS), *(ROWS_OF[split] for split in SPLITS)),
    }
    (tmp_path / DESCRIPTION).write_text(json.dumps(description))
    return tmp_path


def test_the_classification_is_that_of_the_files(folder: Path) -> None:
    read = ExportedHops(name="x", path=str(folder)).classification("none")
    assert (read.classes, read.multilabel, read.store) == (2, False, folder / HOPS)
    assert read.class_names == ("a", "b")
    (scope,) = read.scopes
    assert scope.origin is None
    for split in SPLITS:
        assert (read.labels[split] == LABELS_OF[split]).all()
        assert (scope.rows[split] == ROWS_OF[split]).all()


def test_there_is_no_graph(folder: Path) -> None:
    with pytest.raises(SignError, match="exported hops have no graph"):
        ExportedHops(name="x", path=str(folder)).load()


def test_another_feature_scaling_is_refused(folder: Path) -> None:
    with pytest.raises(SignError, match=r"scaling.features=row_sum: .* exported with scaling.features=none"):
        ExportedHops(name="x", path=str(folder)).classification("row_sum")


@pytest.mark.parametrize("damage", ["labels", "rows", "missing", "description", "key"])
def test_damaged_files_are_refused(folder: Path, damage: str) -> None:
    if damage == "labels":
        np.save(folder / LABELS.format(split="val"), np.array([0]))
    elif damage == "rows":
        np.save(folder / ROWS.format(scope="full", split="val"), np.array([2]))
    elif damage == "missing":
        (folder / LABELS.format(split="val")).unlink()
    elif damage == "description":
        (folder / DESCRIPTION).write_text("{")
    else:
        (folder / DESCRIPTION).write_text("{}")
    with pytest.raises(SignError, match=r"cannot be read (as exported hops .*; export them again|.*file of SIGN)"):
        ExportedHops(name="x", path=str(folder)).classification("none")
