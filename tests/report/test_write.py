"""The files of a report."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from common.overrides import SMALL
from common.run_folders import make_run, make_study, read_records

from sign.config.settings import Settings
from sign.experiments.run import run
from sign.report import tables
from sign.report.write import Report


@pytest.mark.slow
def test_report_of_a_trained_run_has_its_metrics(configured: Callable[..., Settings], tmp_path: Path) -> None:
    settings = configured(*SMALL, "training.max_epochs=2")
    metrics = run(settings)
    page = Report.read([settings.output_dir]).write(tmp_path / "report")
    (row,) = tables.runs(read_records(settings.output_dir))
    assert (row["dataset"], row["test"], row["epochs"]) == ("communities", metrics["test/accuracy"], 2)
    assert f"{metrics['test/accuracy']:.4f}" in (page.parent / "report.md").read_text()
    data = json.loads(page.read_text().split('id="data">')[1].split("</script>")[0])
    assert data["results"][0]["mean"] == metrics["test/accuracy"]
    assert data["runs"][0]["curve"]["epoch"] == [0, 1]


def test_control_characters_of_every_file_are_shown_as_codes(tmp_path: Path) -> None:
    unsafe = "x\x1b]0;title\x07\u202ey\n</script>"
    run, study = tmp_path / "runs" / "a", tmp_path / "runs" / "flickr" / "sign" / "search"
    make_run(run, dataset=unsafe, model=unsafe, experiment=unsafe, **{unsafe: unsafe})
    make_run(tmp_path / "runs" / "b", dataset=unsafe, **{unsafe: "other"})
    (run / "metrics.json").write_text(json.dumps({"test/accuracy": 0.5, f"test/{unsafe}": 0.5}))
    make_study(study)
    text = (study / "study.json").read_text().replace("flickr-search", json.dumps(unsafe)[1:-1])
    (study / "study.json").write_text(text.replace("model.dropout", json.dumps(unsafe)[1:-1]))
    page = Report.read([tmp_path / "runs"]).write(tmp_path / "report")
    for file in (page, page.with_name("report.md")):
        found = file.read_text()
        assert not set(found) & {"\x1b", "\x07", "\u202e"}
        assert "u202e" in found
    data = page.read_text().split('id="data">')[1].split("</script>")[0]
    assert json.loads(data)["studies"][0]["name"] == r"x\x1b]0;title\x07\u202ey\n</script>"
