"""The files of a report."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from common.overrides import SMALL
from common.run_folders import read_records

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
