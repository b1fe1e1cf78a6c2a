"""Splits from a column of names, or from lists of nodes."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.custom.node_ids import NodeIds
from sign.datasets.custom.splits import splits_of_column, splits_of_lists
from sign.datasets.custom.tables import Column
from sign.errors import SignError


def test_names_of_splits_ignore_case_and_may_be_empty() -> None:
    names = np.array(["Train", "valid", "NA", "TEST", "validation", "val"])
    splits = splits_of_column(Column.of(names, "x"))
    assert {split: nodes.tolist() for split, nodes in splits.items()} == {"train": [0], "val": [1, 4, 5], "test": [3]}
    with pytest.raises(SignError, match="x: 'trian' is not a split"):
        splits_of_column(Column.of(np.array(["trian"]), "x"))


def test_lists_of_nodes(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("3\n1\n")
    np.save(tmp_path / "test.npy", np.array([0]))
    files = {"train": tmp_path / "train.txt", "test": tmp_path / "test.npy"}
    splits = splits_of_lists(files, NodeIds(4))
    assert {split: nodes.tolist() for split, nodes in splits.items()} == {"train": [1, 3], "val": [], "test": [0]}
    with pytest.raises(SignError, match=r"train.txt: lists node 3, but nodes are numbered 0 to 2"):
        splits_of_lists(files, NodeIds(3))


@pytest.mark.parametrize(("text", "message"), [("1\n1\n", "node 1 is duplicated"), ("1,2\n", "has 2 columns")])
def test_wrong_lists_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "train.txt").write_text(text)
    with pytest.raises(SignError, match=message):
        splits_of_lists({"train": tmp_path / "train.txt"}, NodeIds(4))
