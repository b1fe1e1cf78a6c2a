"""Studies among the run folders."""

import json
import re
from pathlib import Path

import pytest
from common.run_folders import make_study

from sign.report.studies import choices, read_studies


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


def test_trials_are_compared_by_model_operator_and_power() -> None:
    drawn = [("sagn", 0, 0.5, "complete"), ("sagn", 1, 0.7, "complete"), ("gpr", 0, 0.8, "complete")]
    drawn += [("gpr", 1, 0.9, "pruned"), ("gpr", 1, None, "complete")]
    trials = [
        {"state": state, "value": value, "params": {"model": head, "model.s": power, "model.p": 2, "model.units": 64}}
        for head, power, value, state in drawn
    ]
    study = {"dataset": "cora", "name": "auto", "metric": "val/accuracy", "better": "higher", "trials": trials}
    rows = [(row["setting"], row["value"], row["trials"], row["best"], row["median"]) for row in choices([study])]
    assert rows == [
        ("model", "gpr", 1, 0.8, 0.8),
        ("model", "sagn", 2, 0.7, 0.6),
        ("model.s", "0", 2, 0.8, 0.65),
        ("model.s", "1", 1, 0.7, 0.7),
    ]


def test_value_that_is_not_finite_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(tmp_path / "search", trials=1)
    file = tmp_path / "search" / "study.json"
    file.write_text(re.sub('"value": [^,]*', '"value": NaN', file.read_text()))
    monkeypatch.chdir(tmp_path / "search")
    (study,), problems = read_studies([Path()])
    assert (study["trials"][0]["value"], problems) == (None, [])
