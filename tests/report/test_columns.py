"""Values of the report as text."""

from pathlib import Path

import pytest
from common.run_folders import make_run, read_records

from sign.report import tables
from sign.report.columns import RESULTS, ColumnSpec, cell, markdown


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
