"""Labels become class indices, or a 0/1 matrix."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.custom.labels import encode_labels, label_matrix, labels_of_columns
from sign.datasets.custom.tables import Column, read_table
from sign.errors import SignError


@pytest.mark.parametrize(
    ("labels", "indices", "names"),
    [
        (["b", "a", "", "b"], [1, 0, -1, 1], ("a", "b")),
        (["10", "9", "-1"], [1, 0, -1], ("9", "10")),  # numbers are sorted by value
        (["2.0", "", "0.0"], [1, -1, 0], ("0", "2")),
        ([7, 3, -1], [1, 0, -1], ("3", "7")),
    ],
)
def test_distinct_labels_are_numbered_in_order(labels: list, indices: list[int], names: tuple[str, ...]) -> None:
    found = encode_labels(Column.of(np.array(labels), "x"))
    assert found.values.tolist() == indices
    assert found.names == names


@pytest.mark.parametrize(
    ("labels", "message"), [(["", "-1"], "no node has a label"), ([-2, 1], "label -2: labels must be >= 0")]
)
def test_wrong_labels_are_refused(labels: list, message: str) -> None:
    with pytest.raises(SignError, match=message):
        encode_labels(Column.of(np.array(labels), "x"))


def test_a_matrix_is_0_and_1_with_gaps() -> None:
    matrix = label_matrix(np.array([[0, 1], [-1, 1], [np.nan, 0]]), "x")
    assert matrix.tolist() == [[0, 1], [-1, 1], [-1, 0]]
    with pytest.raises(SignError, match=r"x: contains 0.5; several labels per node"):
        label_matrix(np.array([[0, 0.5]]), "x")


@pytest.mark.parametrize(
    "marker", ["", " ", "NaN", "nan", "-nan", "None", "null", "NULL", "NA", "N/A", "#N/A", "<NA>", "?", "-"]
)
@pytest.mark.parametrize("labels", [["0", "1"], ["cat", "dog"]])
def test_what_marks_a_missing_value_is_no_class(
    marker: str, labels: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    found = encode_labels(Column.of(np.array([labels[0], marker, labels[1]]), "x"))
    assert found.values.tolist() == [0, -1, 1]
    assert found.names == tuple(labels)
    assert (f"x: missing values: 1, marked by `{marker}`" in caplog.text) == bool(marker.strip())


@pytest.mark.parametrize("header", ["label_red,label_blue", "red,blue"])
def test_columns_of_labels_are_named_by_their_header(tmp_path: Path, header: str) -> None:
    (tmp_path / "labels.csv").write_text(f"{header}\n0,1\nNA,1\n")
    labels = labels_of_columns(read_table(tmp_path / "labels.csv"), header.split(","))
    assert labels.values.tolist() == [[0, 1], [-1, 1]]
    assert (labels.classes, labels.names) == (2, ("red", "blue"))
    assert labels.known.tolist() == [True, False]
