"""Tables and figures of results are those of the data files, which come from reproduced tables."""

import doctest
import json
import re
from pathlib import Path
from typing import Any

import pytest
import write_results
from results import bars, data, tables

from sign.published import published_tables

ROWS = ("SIGN", "GCN")
RESULTS = data.Results(
    published_tables()["baselines"],
    {("SIGN", "Cora"): data.Measured(0.81234, 0.0112, 10), ("GCN", "Photo"): data.Measured(0.9, 0.01, 3)},
)


def test_examples() -> None:
    assert doctest.testmod(bars).attempted
    assert not doctest.testmod(bars).failed


def test_all_pages_are_up_to_date() -> None:
    assert not write_results.outdated(), "run: python tools/write_results.py"


def test_every_data_file_is_shown() -> None:
    text = "\n".join(page.read_text() for page in write_results.PAGES)
    shown = set(re.findall(r"<!-- results (\w+)", text)) | write_results.FIGURES.keys()
    assert {file.stem for file in data.DATA.iterdir()} == shown


def test_a_table_has_the_measured_rows_and_says_how_many_runs() -> None:
    assert tables.markdown(RESULTS, columns=("Cora", "Photo")).splitlines() == [
        "| | Cora | Photo |",
        "| --- | --- | --- |",
        "| SIGN | 0.812 ± 0.011 | — |",
        "| GCN | — | 0.900 ± 0.010 |",
        "",
        "Mean ± standard deviation of 3 to 10 runs; from `python src/reproduce.py table=baselines`.",
    ]


def test_markers_choose_columns_and_rows_and_are_filled_again() -> None:
    page = 'a\n<!-- results baselines columns="Cora; Photo" rows="SIGN" -->\nold\n<!-- end of results -->\nb\n'

    def render(name: str, **chosen: tuple[str, ...]) -> str:
        assert name == "baselines"
        return tables.markdown(RESULTS, **chosen)

    once = tables.filled(page, render)
    assert "0.812" in once
    assert "0.900" not in once
    assert "old" not in once
    assert tables.filled(once, render) == once


def test_unknown_columns_are_an_error() -> None:
    with pytest.raises(ValueError, match="no column or row Corra"):
        tables.markdown(RESULTS, columns=("Corra",))


def cell(row: str, column: str, mean: float | None, look_alike: bool = False) -> dict[str, Any]:
    ours = None if mean is None else {"mean": mean, "std": 0.1, "runs": 2}
    return {"row": row, "column": column, "ours": ours, "look_alike": look_alike}


def test_measured_cells_of_a_reproduced_table_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "DATA", tmp_path / "data")
    data.DATA.mkdir()
    cells = [cell("Debian, SIGN-2", "Epoch", 1.5), cell("ogbn-products, SIGN-2", "Epoch", 2.5, look_alike=True)]
    empty = [cell("SIGN", "Reddit", None)]
    for name, content in {"timing": cells, "inductive": empty}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"table": name, "cells": content}))
    assert data.collect(tmp_path) == [tmp_path / "data" / "timing.json"]
    assert data.read("timing").cells == {("Debian, SIGN-2", "Epoch"): data.Measured(1.5, 0.1, 2)}


def test_bars_start_at_zero_and_are_proportional() -> None:
    drawn = bars.picture("x", [bars.Panel("Epoch", "s", {"SIGN-2": 1.0, "a <b>": 4.0, "c": None})], "SIGN")
    lengths = [float(length) for length in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn)]
    assert lengths[1] == 4 * lengths[0]
    assert drawn.count('class="ours"') == 1
    assert "a &lt;b&gt;" in drawn
    assert drawn.count("—") == 1
