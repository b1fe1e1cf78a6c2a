"""Slots that are never idle, and never share a device."""

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
from optuna.trial import Trial, TrialState

from sign.errors import SignError
from sign.search.sampler import make_pruner
from sign.search.scheduler import Progress, Search
from sign.search.slots import make_slots
from sign.search.study_db import Ledger


def test_no_two_running_trials_ever_share_a_device(tmp_path: Path) -> None:
    lengths = random.Random(0)
    uneven = [lengths.choice([0.0, 0.05, 0.3]) for _ in range(40)]
    (tmp_path / "log").mkdir()
    slots = make_slots(None, list(range(8)), "auto")
    words = lambda number: [f"seconds={uneven[number]}", f"log={tmp_path / 'log'}"]  # noqa: E731
    ledger = search(tmp_path / "study", 40, slots, words)
    ran = [json.loads(file.read_text()) for file in (tmp_path / "log").iterdir()]
    assert len(ran) == 40
    assert all(trial.state == TrialState.COMPLETE for trial in ledger.trials)
    assert {trial["device"] for trial in ran} == {str(device) for device in range(8)}
    for device in {trial["device"] for trial in ran}:
        times = sorted((trial["start"], trial["end"]) for trial in ran if trial["device"] == device)
        assert all(before[1] <= after[0] for before, after in pairwise(times))


def test_failures_are_written_down_and_the_search_goes_on(tmp_path: Path) -> None:
    what = {1: ["what=raise"], 2: ["what=nan"], 3: ["what=kill"]}
    ledger = search(tmp_path, 6, make_slots(2, None, "cpu"), lambda number: what.get(number, []))
    states = [trial.state.name for trial in ledger.trials]
    assert states == ["COMPLETE", "FAIL", "FAIL", "FAIL", "COMPLETE", "COMPLETE"]
    reasons = [trial.user_attrs.get("reason") for trial in ledger.trials]
    assert reasons[1] == "RuntimeError: CUDA out of memory"
    assert reasons[2] == "validation loss was nan"
    assert reasons[3] == "killed by signal 9 (out of memory?)"
    assert ledger.best is not None
    assert ledger.best.number == ledger.study.best_trial.number


def test_failures_in_a_row_end_the_search_with_an_explanation(tmp_path: Path) -> None:
    with pytest.raises(SignError, match="3 trials in a row failed, the last because: RuntimeError: CUDA"):
        search(tmp_path, 20, make_slots(1, None, "cpu"), lambda number: ["what=raise"], max_failures=3)


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from common.search import search
from sign.search.slots import make_slots
what = {{2: ["what=kill"], 3: ["what=raise"], 4: ["what=nan"]}}
search(Path({folder!r}), 10, make_slots(2, None, "cpu"), lambda n: ["seconds=0.5", *what.get(n, [])])
"""


def test_killed_twice_it_ends_with_exactly_the_trials_asked_for(tmp_path: Path) -> None:
    path = [str(TRIAL.parents[1]), *sys.path[:1], str(TRIAL.parents[2] / "src")]
    program = KILLED.format(path=path, folder=str(tmp_path))
    ledger = Ledger(tmp_path, "study", SPACE, 10)
    for wanted in (1, 5):
        process = subprocess.Popen([sys.executable, "-c", program])
        running: set[int] = set()
        while len(ledger.trials) <= wanted or not running:
            running = {t.number for t in ledger.trials if t.state == TrialState.RUNNING}
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
        process.wait()
        assert any(trial.state == TrialState.RUNNING for trial in ledger.trials)
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
    trials = ledger.trials
    assert len(trials) == 10
    assert [t.number for t in trials if t.state == TrialState.FAIL] == [2, 3, 4]
    assert all(t.user_attrs["reason"] for t in trials if t.state == TrialState.FAIL)
    assert sum(trial.state == TrialState.COMPLETE for trial in trials) == 7
    assert ledger.best == ledger.study.best_trial
    assert (ledger.best.params["x"] - 0.3) ** 2 == ledger.best.value


def test_a_complete_study_runs_nothing_and_a_larger_total_extends_it(tmp_path: Path) -> None:
    slots = make_slots(1, None, "cpu")
    search(tmp_path, 2, slots, lambda number: [])
    assert Ledger(tmp_path, "study", SPACE, 2).complete
    ledger = search(tmp_path, 3, slots, lambda number: [])
    assert [trial.number for trial in ledger.trials] == [0, 1, 2]
    assert sorted(folder.name for folder in tmp_path.glob("trial-*")) == [
        "trial-0000",
        "trial-0001",
        "trial-0002",
    ]


def test_an_interrupted_search_ends_its_processes(tmp_path: Path) -> None:
    class Interrupted(Silent):
        def moved(self, at_work: object) -> None:
            if work.at_work:
                self.seen = [progress.running.process for progress in work.at_work.values()]
                raise KeyboardInterrupt

    watcher = Interrupted()
    ledger = Ledger(tmp_path, "study", SPACE, 2)
    work = Search(ledger, make_slots(2, None, "cpu"), command(lambda n: ["seconds=60"]), watcher)
    with pytest.raises(KeyboardInterrupt):
        work.run()
    assert [process.poll() for process in watcher.seen] == [-9, -9]
    assert {trial.state for trial in ledger.trials} == {TrialState.RUNNING}
    ledger = search(tmp_path, 2, make_slots(2, None, "cpu"), lambda n: [])
    assert {trial.state for trial in ledger.trials} == {TrialState.COMPLETE}


def test_a_trial_that_another_machine_took_over_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TakenOver(Silent):
        def moved(self, at_work: Sequence[Progress]) -> None:
            if at_work and not other.trials[0].state.is_finished():
                theirs = Trial(other.study, at_work[0].trial._trial_id)
                theirs.set_user_attr("owner", {**other.owner, "device": "cpu", "attempts": 2})
                other.succeed(theirs, 0.25)
                self.process = at_work[0].running.process

    monkeypatch.setattr("sign.search.scheduler.BEAT", 0.1)
    ledger, other = (Ledger(tmp_path, "study", SPACE, 1) for _ in range(2))
    watcher = TakenOver()
    Search(ledger, make_slots(1, None, "cpu"), command(lambda n: ["seconds=60"]), watcher).run()
    assert watcher.process.poll() == -9
    assert [trial.value for trial in ledger.trials] == [0.25]
    assert not (tmp_path / ".searches").exists()


@pytest.mark.parametrize("name", ["median", "hyperband"])
def test_trials_that_are_behind_are_stopped_early(tmp_path: Path, name: str) -> None:
    ledger = Ledger(tmp_path, "study", SPACE, 9, pruner=make_pruner(name, max_epochs=30))
    losses = [0.5] * 6 + [9.0] * 3
    words = command(lambda number: [f"loss={losses[number]}"])
    Search(ledger, make_slots(3, None, "cpu"), words, Silent(), pruned_run=-1).run()
    pruned = [trial for trial in ledger.trials if trial.state == TrialState.PRUNED]
    assert pruned
    assert all(trial.number >= 6 for trial in pruned)
    assert all(max(trial.intermediate_values) < 99 for trial in pruned)
    assert ledger.complete
    assert ledger.best is not None
    assert ledger.best.number not in {trial.number for trial in pruned}
