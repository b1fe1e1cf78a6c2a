"""Studies among the run folders."""

import json
import re
from pathlib import Path

import pytest
from common.run_folders import make_study

from sign.report.studies import read_studies


def test_study_has_the_best_value_so_far_per_trial(tmp_path: Path) -> None:
    written = make_study(tmp_path / "flickr" / "sign" / "search-one", trials=8)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "study.json").write_text('{"trials": 3}')
    (study,), (problem,) = read_studies([tmp_path])
    assert problem.reason == "damaged: study.json: has no list of trials"
    assert (study["dataset"], study["metric"]) == ("flickr", "val/loss")
    assert list(study["importances"]) == ["training.learning_rate", "model.dropout"]
    complete = [trial["value"] for trial in written["trials"] if trial["state"] == "complete"]
    assert study["trials"][-1]["best"] == min(complete)
    assert study["better"] == "lower"
    assert study["trials"][3]["value"] is None
    assert study["trials"][3]["reason"] == "training diverged"


def test_the_best_value_of_a_metric_that_is_maximised_is_the_highest(tmp_path: Path) -> None:
    folder = tmp_path / "flickr" / "sign" / "search-one"
    written = make_study(folder, trials=8) | {"direction": "maximize", "metric": "val/accuracy"}
    (folder / "study.json").write_text(json.dumps(written))
    (study,), _ = read_studies([tmp_path])
    complete = [trial["value"] for trial in written["trials"] if trial["state"] == "complete"]
    assert study["trials"][-1]["best"] == max(complete)
    assert study["better"] == "higher"


def test_value_that_is_not_finite_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(tmp_path / "search", trials=1)
    file = tmp_path / "search" / "study.json"
    file.write_text(re.sub('"value": [^,]*', '"value": NaN', file.read_text()))
    monkeypatch.chdir(tmp_path / "search")
    (study,), problems = read_studies([Path()])
    assert (study["trials"][0]["value"], problems) == (None, [])
