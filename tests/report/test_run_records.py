"""Run folders read back for the report; a damaged one never stops it."""

from pathlib import Path

import pytest
from common.run_folders import make_run, read_records

from sign.report import tables
from sign.report.html import page_data, render
from sign.report.run_records import read_runs


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("run.json", "{", "damaged: run.json: cannot be read"),
        ("run.json", "[]", "damaged: run.json: is not a JSON object"),
        ("run.json", '{"dataset": 5}', "damaged: run.json: dataset=5: must be a non-empty string"),
        ("run.json", None, "damaged: no run.json"),
        ("metrics.json", "", "damaged: metrics.json: cannot be read"),
        ("metrics.json", None, "not finished: 30 epochs and no checkpoint"),
        ("metrics.csv", "epoch,val/loss\n0,abc\n", "damaged: metrics.csv: contains a value that is not a number"),
        ("config.yaml", "a: [", "damaged: config.yaml: cannot be read as YAML"),
        ("config.yaml", "- 1", "damaged: config.yaml: is not a configuration"),
        ("config.yaml", None, "damaged: config.yaml: cannot be read"),
    ],
)
def test_damaged_folder_is_listed_with_the_reason_and_the_others_are_reported(
    tmp_path: Path, file: str, text: str | None, reason: str
) -> None:
    make_run(tmp_path / "good", seed=0)
    make_run(tmp_path / "bad", seed=1)
    (tmp_path / "bad" / file).unlink() if text is None else (tmp_path / "bad" / file).write_text(text)
    found, (problem,) = read_runs([tmp_path])
    assert problem.folder == str(tmp_path / "bad")
    assert problem.reason.startswith(reason)
    assert [row["runs"] for row in tables.comparison(found)] == [1]
    render(page_data(found, [problem], []))


def test_numbers_that_are_not_finite_are_omitted(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    (tmp_path / "a" / "metrics.json").write_text('{"test/accuracy": NaN, "val/accuracy": "x", "epochs": 2}')
    (row,) = tables.comparison(read_records(tmp_path))
    assert row["mean"] is None
    assert "NaN" not in render(page_data(read_records(tmp_path), [], []))


def test_files_of_a_tracker_are_no_runs(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    files = tmp_path / "a" / "wandb" / "offline-run" / "files"
    files.mkdir(parents=True)
    (files / "config.yaml").write_text("{}")
    assert len(read_records(tmp_path)) == 1
