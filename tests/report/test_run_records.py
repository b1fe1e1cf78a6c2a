"""Run folders read back for the report; a damaged one never stops it."""

import os
from pathlib import Path

import pytest
from common.damaged_runs import Damage, damaged_copy, damages
from common.run_folders import make_run, read_records

from sign.report import tables
from sign.report.html import page_data, render
from sign.report.run_records import read_runs
from sign.report.write import Report


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "good"
    make_run(folder, epochs=3)
    return folder


@pytest.mark.parametrize("damage", [pytest.param(damage, id=name) for name, damage in damages()])
def test_damaged_folder_is_one_problem_and_the_report_shows_the_rest(
    good: Path, tmp_path: Path, damage: Damage
) -> None:
    """Every kind of damage; the campaign in tests/faults measures that none takes longer than a second."""
    make_run(tmp_path / "runs" / "good", seed=1, epochs=3)
    folder = damaged_copy(good, tmp_path / "runs" / "bad", damage)
    report = Report.read([tmp_path / "runs"])
    report.write(tmp_path / "report")
    (problem,) = report.problems
    assert problem.folder == str(folder)
    assert problem.reason.startswith(("damaged: ", "not finished: "))
    assert len(problem.reason) < 300
    assert str(tmp_path / "runs" / "good") in [record.folder for record in report.records]
    assert tables.comparison(report.records)[0]["mean"] is not None


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
    (tmp_path / "a" / "metrics.json").write_text('{"test/accuracy": NaN, "val/accuracy": Infinity, "epochs": 2}')
    (row,) = tables.comparison(read_records(tmp_path))
    assert row["mean"] is None
    assert "NaN" not in render(page_data(read_records(tmp_path), [], []))


def test_files_of_a_tracker_are_no_runs(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    files = tmp_path / "a" / "wandb" / "offline-run" / "files"
    files.mkdir(parents=True)
    (files / "config.yaml").write_text("{}")
    assert len(read_records(tmp_path)) == 1


def test_folder_name_that_is_not_text_is_shown_by_its_bytes(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/runs/\xff\n"))
    make_run(folder)
    (folder / "metrics.json").unlink()
    page = Report.read([tmp_path / "runs"]).write(tmp_path / "report")
    assert r"\\udcff\\n" in page.read_text()
    assert r"\\udcff\\n" in (tmp_path / "report" / "report.md").read_text()


def test_accuracy_and_an_equal_micro_f1_are_one_metric(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    (tmp_path / "a" / "metrics.json").write_text('{"test/accuracy": 0.5, "test/micro_f1": 0.5, "val/micro_f1": 0.4}')
    (record,) = read_records(tmp_path)
    assert record.metrics == {"test/accuracy": 0.5, "val/micro_f1": 0.4}
