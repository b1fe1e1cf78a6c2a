"""Tables in CSV files within limits."""

import math
from pathlib import Path

import pytest

from sign.errors import SignError
from sign.system import csv_files
from sign.system.csv_files import numbers, read_csv


def test_quoted_fields_may_contain_commas_and_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('class,f1\r\n"a,b\n\u2028",0.5\r\n', newline="")
    assert read_csv(tmp_path / "a.csv") == (["class", "f1"], [["a,b\n\u2028", "0.5"]])


@pytest.mark.parametrize("end", ["1", "1,", "1,0.", "1,0.25"])
def test_last_row_without_a_line_end_was_cut_short(tmp_path: Path, end: str) -> None:
    """0.25 may be the beginning of 0.257."""
    (tmp_path / "a.csv").write_text(f"epoch,loss\n0,0.5\n{end}")
    assert read_csv(tmp_path / "a.csv") == (["epoch", "loss"], [["0", "0.5"]])


def test_file_that_is_cut_in_its_header_is_empty(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("epoch,lo")
    assert read_csv(tmp_path / "a.csv") == ([], [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a,b\n1\n1,2\n", "row 2 has 1 fields instead of 2"),
        ("a,b\n1,2,3\n", "row 2 has 3 fields instead of 2"),
        ("a,a\n1,2\n", "has two columns of the same name"),
        ("a\n" + "1" * 131073 + "\n", "cannot be read as a table"),
        ("a,b\n" + "1,2\n" * 10, "has more than 16 fields"),
        ("a,b,c,d,e\n", "has more than 4 columns"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, reason: str) -> None:
    monkeypatch.setattr(csv_files, "MAX_FIELDS", 16)
    monkeypatch.setattr(csv_files, "MAX_COLUMNS", 4)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(SignError, match=f"a.csv: {reason}"):
        read_csv(tmp_path / "a.csv")


def test_fields_are_numbers_also_where_training_diverged(tmp_path: Path) -> None:
    first, second, third = numbers(tmp_path, ["1e-3", "inf", "nan"])
    assert (first, second, math.isnan(third)) == (0.001, math.inf, True)


@pytest.mark.parametrize("text", ["x", "", "1" * 400, "1e400", "-1e101"])
def test_other_fields_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SignError, match=r"is not a number|beyond 1e\+100"):
        numbers(tmp_path, [text])
