"""Labels become class indices, or a 0/1 matrix."""

import numpy as np
import pytest

from sign.datasets.custom.labels import encode_labels, label_matrix
from sign.datasets.custom.tables import Column
from sign.errors import SignError


@pytest.mark.parametrize(
    ("labels", "indices", "classes"),
    [
        (["b", "a", "", "b"], [1, 0, -1, 1], 2),
        (["10", "9", "-1"], [1, 0, -1], 2),  # numbers are sorted by value
        (["2.0", "", "0.0"], [1, -1, 0], 2),
        ([7, 3, -1], [1, 0, -1], 2),
    ],
)
def test_distinct_labels_are_numbered_in_order(labels: list, indices: list[int], classes: int) -> None:
    assert encode_labels(Column.of(np.array(labels), "x"))[0].tolist() == indices
    assert encode_labels(Column.of(np.array(labels), "x"))[1] == classes


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
