"""Studies among the run folders."""

from pathlib import Path

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
    assert study["trials"][3]["value"] is None
    assert study["trials"][3]["reason"] == "training diverged"
