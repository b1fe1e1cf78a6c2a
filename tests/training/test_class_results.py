"""Results by class are tables of the run folder, with the names of the classes."""

import csv
import json
from pathlib import Path

import numpy as np

from sign.training.class_results import ClassResults

COUNTS = np.array([[2.0, 0.0], [3.0, 0.0], [2.0, 1.0]])  # true, predicted and actual positives of two classes


def rows(file: Path) -> list[list[str]]:
    with file.open(newline="") as stream:
        return list(csv.reader(stream))


def test_single_labels_have_a_table_and_a_confusion_matrix(tmp_path: Path) -> None:
    ClassResults(COUNTS, np.array([[2, 0], [1, 0]])).write(tmp_path, ("cats, dogs", 'a "b"'))
    assert rows(tmp_path / "per_class.csv") == [
        ["class", "support", "precision", "recall", "f1"],
        ["cats, dogs", "2", str(2 / 3), "1.0", "0.8"],
        ['a "b"', "1", "0.0", "0.0", "0.0"],
    ]
    header, *matrix = rows(tmp_path / "confusion.csv")
    assert header[1:] == ["cats, dogs", 'a "b"']
    assert matrix == [["cats, dogs", "2", "0"], ['a "b"', "1", "0"]]
    assert {file.name for file in tmp_path.iterdir()} == {"per_class.csv", "confusion.csv"}


def test_classes_without_names_are_numbered_and_thresholds_are_kept(tmp_path: Path) -> None:
    ClassResults(COUNTS, thresholds=[0.25, 1.0]).write(tmp_path, ())
    assert [row[0] for row in rows(tmp_path / "per_class.csv")] == ["class", "0", "1"]
    expected = {"classes": ["0", "1"], "thresholds": [0.25, 1.0]}
    assert json.loads((tmp_path / "thresholds.json").read_text()) == expected
    assert not (tmp_path / "confusion.csv").exists()
