"""Values of the report as text."""

from pathlib import Path

import pytest
from common.run_folders import make_run, read_records

from sign.report import tables
from sign.report.columns import RESULTS, ColumnSpec, TableSpec, cell, markdown


def test_published_percentage_is_compared_as_a_fraction(tmp_path: Path) -> None:
    make_run(tmp_path / "a", "ogbn-products", "SIGN(3,0,0)", score=0.75, experiment="products_sign_300")
    (row,) = tables.comparison(read_records(tmp_path))
    assert row["paper"] == pytest.approx(0.7652)
    assert cell(row, ColumnSpec("paper", "", "score", spread="paper_std", digits="paper_digits")) == "0.7652 ± 0.0014"
    assert row["std"] is None  # of one run


def test_markdown_escapes_names(tmp_path: Path) -> None:
    make_run(tmp_path / "a", dataset="a|b<i>_c_")
    text = markdown(RESULTS, tables.comparison(read_records(tmp_path)))
    head, _, row, *_ = text.splitlines()
    assert head.count("|") == row.count("|")
    assert r"a&#124;b&#60;i&#62;\_c\_" in row


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", "a&#124;b"),
        ("a\n| b", r"a\\n&#124; b"),
        ("`rm`", r"\`rm\`"),
        ("\x1b[31mred\x1b]0;title\x07", r"\\x1b\[31mred\\x1b\]0;title\\x07"),
        ("a\u202ecod.exe", r"a\\u202ecod.exe"),
        ("<script>", "&#60;script&#62;"),
        ("&lt;b&gt;", "&#38;lt;b&#38;gt;"),
        ("[x](javascript:1)", r"\[x\](javascript:1)"),
        ("~~no~~ $x$", r"\~\~no\~\~ &#36;x&#36;"),
        ("a\\", r"a\\"),
    ],
)
def test_markdown_shows_names_as_text(name: str, shown: str) -> None:
    text = markdown(TableSpec("t", "", (ColumnSpec("a", "a"), ColumnSpec("b", "b"))), [{"a": name, "b": "x"}])
    assert text.splitlines()[2:] == [f"| {shown} | x |"]
