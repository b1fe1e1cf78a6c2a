"""Slots are never idle and never share a device; no trial is lost or added."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from common.search import SPACE, TRIAL, Silent, command, search
from optuna.trial import TrialState

from sign.errors import SignError
from sign.search.sampler import make_pruner
from sign.search.scheduler import RunningTrial, Scheduler
from sign.search.slots import SlotPool, make_slots
from sign.search.study_db import StudyDB


def test_no_two_running_trials_ever_share_a_device(tmp_path: Path) -> None:
    lengths = random.Random(0)
    uneven = [lengths.choice([0.0, 0.05, 0.3]) for _ in range(40)]
    (tmp_path / "log").mkdir()
    slots = make_slots(None, list(range(8)), "auto")
    db = search(tmp_path / "study", 40, slots, lambda n: [f"seconds={uneven[n]}", f"log={tmp_path / 'log'}"])
    ran = [json.loads(file.read_text()) for file in (tmp_path / "log").iterdir()]
    assert len(ran) == 40
    assert all(trial.state == TrialState.COMPLETE for trial in db.read_trials())
    assert {trial["device"] for trial in ran} == {str(device) for device in range(8)}
    for device in {trial["device"] for trial in ran}:
        times = sorted((trial["start"], trial["end"]) for trial in ran if trial["device"] == device)
        assert all(before[1] <= after[0] for before, after in pairwise(times))


def test_a_failed_trial_has_a_reason_and_does_not_stop_the_search(tmp_path: Path) -> None:
    what = {1: ["what=raise"], 2: ["what=nan"], 3: ["what=kill"]}
    db = search(tmp_path, 6, make_slots(2, None, "cpu"), lambda number: what.get(number, []))
    states = [trial.state.name for trial in db.read_trials()]
    assert states == ["COMPLETE", "FAIL", "FAIL", "FAIL", "COMPLETE", "COMPLETE"]
    reasons = [trial.user_attrs.get("reason") for trial in db.read_trials()]
    assert reasons[1] == "RuntimeError: CUDA out of memory"
    assert reasons[2] == "the result was nan"
    assert reasons[3] == "killed by signal 9 (out of memory?)"
    assert db.best_trial() is not None
    assert db.best_trial().number == db.study.best_trial.number


def test_consecutive_failures_stop_the_search(tmp_path: Path) -> None:
    with pytest.raises(SignError, match="3 consecutive trials failed, the last one with: RuntimeError: CUDA"):
        search(tmp_path, 20, make_slots(1, None, "cpu"), lambda number: ["what=raise"], max_failures=3)


def test_a_full_disk_stops_the_search_and_costs_no_trial(tmp_path: Path) -> None:
    slots = make_slots(1, None, "cpu")
    with pytest.raises(SignError, match=r"trial 1: .*no space left on device; run the same command again"):
        search(tmp_path, 3, slots, lambda number: ["what=full"] if number == 1 else [])
    db = search(tmp_path, 3, slots, lambda number: [])
    assert [trial.state for trial in db.read_trials()] == [TrialState.COMPLETE] * 3


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from common.search import search
from sign.search.slots import make_slots
what = {{2: ["what=kill"], 3: ["what=raise"], 4: ["what=nan"]}}
last = int(sys.argv[1])
seconds = lambda number: 600 if number > last else 0
search(Path({folder!r}), 10, make_slots(2, None, "cpu"), lambda n: [f"seconds={{seconds(n)}}", *what.get(n, [])])
"""


def numbers(db: StudyDB, state: TrialState) -> list[int]:
    return [trial.number for trial in db.read_trials() if trial.state == state]


@pytest.mark.slow
def test_a_search_killed_twice_ends_with_exactly_the_requested_trials(tmp_path: Path) -> None:
    path = [str(TRIAL.parents[1]), *sys.path[:1], str(TRIAL.parents[2] / "src")]
    program = KILLED.format(path=path, folder=str(tmp_path))
    db = StudyDB(tmp_path, "study", SPACE, 10)
    for last in (0, 4):  # later trials do not end: both slots are busy with them when the search is killed
        process = subprocess.Popen([sys.executable, "-c", program, str(last)])
        while (running := numbers(db, TrialState.RUNNING)) != [last + 1, last + 2]:
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
        assert numbers(db, TrialState.RUNNING) == running
    subprocess.run([sys.executable, "-c", program, "10"], check=True, timeout=300)
    trials = db.read_trials()
    assert len(trials) == 10
    assert numbers(db, TrialState.FAIL) == [2, 3, 4]
    assert all(t.user_attrs["reason"] for t in trials if t.state == TrialState.FAIL)
    assert sum(trial.state == TrialState.COMPLETE for trial in trials) == 7
    assert db.best_trial() == db.study.best_trial
    assert (db.best_trial().params["x"] - 0.3) ** 2 == db.best_trial().value


def test_a_complete_study_runs_nothing_and_a_larger_total_extends_it(tmp_path: Path) -> None:
    slots = make_slots(1, None, "cpu")
    search(tmp_path, 2, slots, lambda number: [])
    assert StudyDB(tmp_path, "study", SPACE, 2).is_complete()
    db = search(tmp_path, 3, slots, lambda number: [])
    assert [trial.number for trial in db.read_trials()] == [0, 1, 2]
    assert sorted(folder.name for folder in tmp_path.glob("trial-*")) == ["trial-0000", "trial-0001", "trial-0002"]


def test_an_interrupted_search_kills_its_workers_and_releases_their_trials(tmp_path: Path) -> None:
    class Interrupted(Silent):
        def update(self, running: Sequence[RunningTrial]) -> None:
            if running:
                raise KeyboardInterrupt

    db = StudyDB(tmp_path, "study", SPACE, 2)
    scheduler = Scheduler(db, SlotPool(make_slots(2, None, "cpu")), command(lambda n: ["seconds=60"]), Interrupted())
    with pytest.raises(KeyboardInterrupt):
        scheduler.run()
    assert not scheduler.pool.workers
    assert {trial.state for trial in db.read_trials()} == {TrialState.RUNNING}
    db = search(tmp_path, 2, make_slots(2, None, "cpu"), lambda n: [])
    assert {trial.state for trial in db.read_trials()} == {TrialState.COMPLETE}


def test_a_trial_that_another_machine_took_over_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class TakenOver(Silent):
        def update(self, running: Sequence[RunningTrial]) -> None:
            if running and not other.read_trials()[0].state.is_finished():
                trial = other.next_trial("cpu")
                assert trial is not None
                other.finish(trial, TrialState.COMPLETE, 0.25)

    monkeypatch.setattr("sign.search.scheduler.HEARTBEAT_SECONDS", 0.1)
    monkeypatch.setattr("sign.search.study_db.GRACE_SECONDS", -1)  # every heartbeat is too old
    db, other = (StudyDB(tmp_path, "study", SPACE, 1) for _ in range(2))
    other.owner["host"] = "elsewhere"
    Scheduler(db, SlotPool(make_slots(1, None, "cpu")), command(lambda n: ["seconds=60"]), TakenOver()).run()
    assert [trial.value for trial in db.read_trials()] == [0.25]
    assert not (tmp_path / ".searches").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["median", "hyperband"])
def test_trials_with_a_high_loss_are_pruned(tmp_path: Path, name: str) -> None:
    db = StudyDB(tmp_path, "study", SPACE, 9, pruner=make_pruner(name, max_epochs=30))
    losses = [0.5] * 6 + [9.0] * 3
    trial_command = command(lambda number: [f"loss={losses[number]}"])
    Scheduler(db, SlotPool(make_slots(3, None, "cpu")), trial_command, Silent(), pruned_run=-1).run()
    pruned = [trial for trial in db.read_trials() if trial.state == TrialState.PRUNED]
    assert pruned
    assert all(trial.number >= 6 for trial in pruned)
    assert all(max(trial.intermediate_values) < 99 for trial in pruned)
    assert db.is_complete()
    assert db.best_trial() is not None
    assert db.best_trial().number not in {trial.number for trial in pruned}
