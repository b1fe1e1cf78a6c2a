"""The separator of a text table is found in its first line, and an encoding other than UTF-8 is named."""

import gzip
from pathlib import Path

import pytest

from sign.datasets.custom.tables import read_table
from sign.datasets.custom.text_files import first_line
from sign.errors import SignError


@pytest.mark.parametrize(
    ("name", "line", "cells", "log"),
    [
        ("a.csv", "id,label,x", ["id", "label", "x"], ""),
        ("a.csv", "id;label;x", ["id", "label", "x"], "separated by semicolons"),
        ("a.csv", "id\tlabel", ["id", "label"], "separated by tabs"),
        ("a.csv", "id|label", ["id", "label"], "separated by vertical bars"),
        ("a.tsv", "id\tlabel", ["id", "label"], ""),
        ("a.tsv", "id,label", ["id", "label"], "separated by commas"),
        ("a.csv", "id,x;y,z|w", ["id", "x;y", "z|w"], ""),  # the usual separator, if there is any
        ("a.csv", '"id;label"', ["id;label"], ""),
        ("a.csv", "id", ["id"], ""),
    ],
)
def test_separators(
    tmp_path: Path, name: str, line: str, cells: list[str], log: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "sign")
    (tmp_path / name).write_text(line + "\n")
    assert first_line(tmp_path / name, bool)[0] == cells
    assert bool(caplog.text) == bool(log)
    assert log in caplog.text


def test_two_possible_separators_are_ambiguous(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;x|y;z\n")
    with pytest.raises(SignError, match="could be separated by semicolons or vertical bars; write it with commas"):
        first_line(tmp_path / "a.csv", bool)


def test_another_separator_must_give_plausible_cells(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Comedy|Drama\n")
    assert first_line(tmp_path / "a.csv", lambda cells: "label" in cells)[0] == ["Comedy|Drama"]


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
        ("latin-1", "Latin-1"),
        ("cp1252", "Latin-1"),
    ],
)
@pytest.mark.parametrize("text", ["id,größe\na,1\n", "id,x\na,1\nü,2\n"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_other_encodings_are_named(tmp_path: Path, encoding: str, name: str, text: str, ending: str) -> None:
    content, file = text.encode(encoding), tmp_path / f"a{ending}"
    file.write_bytes(gzip.compress(content) if ending == ".csv.gz" else content)
    with pytest.raises(SignError, match=f"a{ending}: is not UTF-8, but probably {name}; convert it.*iconv -f {name}"):
        read_table(file)
