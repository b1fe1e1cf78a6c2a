"""Row pointers, and partitions of rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sign.graph.partition import entries_of, is_indptr, row_blocks, row_pointers, windows

lengths = st.lists(st.integers(0, 5), min_size=1, max_size=20)


@given(lengths=lengths, data=st.data())
def test_selected_entries_are_those_of_the_rows(lengths: list[int], data: st.DataObject) -> None:
    indptr = row_pointers(np.array(lengths))
    rows = np.array(data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=8)), np.int64)
    selected, positions = entries_of(indptr, rows)
    expected = [list(range(indptr[row], indptr[row + 1])) for row in rows]
    assert positions.tolist() == [position for row in expected for position in row]
    assert np.diff(selected).tolist() == [len(row) for row in expected]


@given(lengths=lengths, blocks=st.integers(1, 9))
def test_blocks_cover_all_rows_with_about_the_same_work(lengths: list[int], blocks: int) -> None:
    indptr = row_pointers(np.array(lengths))
    bounds = row_blocks(indptr, blocks)
    assert len(bounds) == blocks + 1
    assert bounds[0] == 0
    assert bounds[-1] == len(lengths)
    assert (np.diff(bounds) >= 0).all()
    work = [indptr[b] - indptr[a] + b - a for a, b in itertools.pairwise(bounds)]
    assert max(work) <= (indptr[-1] + len(lengths)) / blocks + 6 + 1  # one more row than an equal share


@pytest.mark.parametrize(
    ("indptr", "valid"), [([0, 2, 3], True), ([0, 3, 2], False), ([1, 2, 3], False), ([0, 2, 4], False), ([], False)]
)
def test_row_pointers_are_checked(indptr: list[int], valid: bool) -> None:
    assert is_indptr(np.array(indptr, np.int64), 3) is valid


def test_arrays_in_memory_have_one_window() -> None:
    assert list(windows(np.array([0, 5, 9]), np.zeros(9), None)) == [(0, 2)]
