"""study.json, the final table, and the summary run of a study."""

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from common.search import SPACE
from optuna.trial import TrialState
from rich.console import Console

from sign.search import results
from sign.search.study_db import StudyDB
from sign.tracking.base import NoTracker
from sign.tracking.wandb import WandB


@pytest.fixture
def finished(tmp_path: Path) -> StudyDB:
    """A study of five trials with a result and one without."""
    db = StudyDB(tmp_path, "a study", SPACE, 6, queue=[{"x": number / 5} for number in range(6)])
    for number in range(6):
        trial = db.next_trial("cpu")
        assert trial is not None
        if number == 1:
            db.finish(trial, TrialState.FAIL, reason="CUDA out of memory", seconds=2.0)
        else:
            db.finish(trial, TrialState.COMPLETE, (trial.params["x"] - 0.3) ** 2, seconds=1.0)
    return db


def test_study_json_describes_every_trial(finished: StudyDB) -> None:
    results.write_study(finished, final=True)
    study = json.loads((finished.folder / "study.json").read_text())
    assert [trial["state"] for trial in study["trials"]] == ["complete", "fail", *["complete"] * 4]
    assert study["trials"][1]["reason"] == "CUDA out of memory"
    assert study["best"]["value"] == min(trial["value"] for trial in study["trials"] if trial["value"])
    assert study["importances"] == {"x": 1.0}


def test_another_metric_than_the_loss_is_maximised_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = StudyDB(tmp_path, "a study", SPACE, 3, metric="val/accuracy")
    for value in (0.5, 0.75, 0.25):
        trial = db.next_trial("cpu")
        assert trial is not None
        db.finish(trial, TrialState.COMPLETE, value)
    best = db.best_trial()
    assert best is not None
    assert (best.number, db.study.best_value) == (1, 0.75)
    results.write_study(db)
    study = json.loads((tmp_path / "study.json").read_text())
    assert (study["direction"], study["metric"], study["best"]["value"]) == ("maximize", "val/accuracy", 0.75)
    screen = Console(file=io.StringIO(), width=80)
    monkeypatch.setattr(results, "console", screen)
    results.show(db, best, best.params, "")
    assert "trial 1, val/accuracy 0.7500" in screen.file.getvalue()


def test_the_final_table_shows_the_best_values_and_the_next_command(
    finished: StudyDB, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sign")
    screen = Console(file=io.StringIO(), width=160)
    monkeypatch.setattr(results, "console", screen)
    best = finished.best_trial()
    assert best is not None
    results.show(finished, best, best.params, "python src/train.py experiment=best runs=10")
    assert caplog.messages[0] == "the study a study is complete: 5 trials with a result, 1 failed, 0 pruned"
    assert "python src/train.py experiment=best runs=10" in caplog.text
    assert "1.00" in screen.file.getvalue()  # x has all of the importance


def offline_runs(folder: Path) -> list[str]:
    """What W&B's own reader finds in the offline runs of a folder."""
    program = Path(sys.executable).parent / "wandb"
    return [
        subprocess.run(
            [program, "leet", "inspect", "--summary", "--json", file], capture_output=True, text=True, check=True
        ).stdout
        for file in (folder / "wandb").rglob("run-*.wandb")
    ]


@pytest.mark.slow
def test_the_summary_run_has_the_tables_the_plot_and_the_best_trial(
    finished: StudyDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    for _ in range(2):  # the second call must not add a run
        results.log_summary(finished, WandB(), ["cora"])
    (run,) = offline_runs(finished.folder)
    assert "a study summary" in run
    assert json.loads(run)["config"] == {"x": 0.4}
    assert json.loads(run)["summary"]["best/trial"] == 2
    files = [file.name for file in (finished.folder / "wandb").rglob("*.json")]
    for name in ("trials", "importances", "parallel coordinates"):
        assert any(file.startswith(name) for file in files), name


def test_without_a_tracker_nothing_is_logged(finished: StudyDB) -> None:
    results.log_summary(finished, NoTracker(), [])
    assert not list(finished.folder.rglob("wandb"))
