"""A study in its database, shared by several searches."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import optuna
import pytest
from common.paths import REPOSITORY
from common.search import SPACE, search
from omegaconf import OmegaConf
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import Trial, TrialState

from sign.errors import SignError
from sign.search import study_db
from sign.search.db_lock import DBLock
from sign.search.sampler import make_sampler
from sign.search.slots import make_slots
from sign.search.space import suggest
from sign.search.study_db import MAX_ATTEMPTS, StudyDB


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a PostgreSQL server without a network port; yields its address."""
    if not (shutil.which("initdb") and shutil.which("postgres")):
        pytest.skip("PostgreSQL (initdb, postgres) is not installed")
    folder = Path("/tmp") / f"sign-pg-{os.getpid()}"  # a socket's path is at most 107 bytes
    folder.mkdir()
    user = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []  # it refuses to be root
    if user:
        shutil.chown(folder, "nobody")
    data = folder / "data"
    subprocess.run(
        [*user, "initdb", "-D", data, "-U", "sign", "-A", "trust", "--no-sync"],
        check=True,
        capture_output=True,
        cwd="/",
    )
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
    log = (folder / "log").open("w")
    process = subprocess.Popen([*user, "postgres", "-D", data, *options], stdout=log, stderr=log, cwd="/")
    state, deadline = data / "postmaster.pid", time.monotonic() + 60
    while not (state.exists() and "ready" in state.read_text()):  # the socket exists before it takes connections
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.1)
    yield f"postgresql+psycopg://sign@/postgres?host={folder}"
    pid = int((data / "postmaster.pid").read_text().split()[0])
    os.kill(pid, 3)  # at once, without waiting for connections
    process.wait(30)
    log.close()
    shutil.rmtree(folder)


def test_concurrent_searches_start_each_trial_once_and_not_more_than_the_total(tmp_path: Path) -> None:
    def trial_numbers(_: int) -> list[int]:
        db = StudyDB(tmp_path, "study", SPACE, 7)
        with db.alive():
            numbers = []
            while trial := db.next_trial("cpu"):
                numbers.append(trial.number)
                db.finish(trial, TrialState.COMPLETE, 0.0)
        return numbers

    with ThreadPoolExecutor(3) as pool:
        numbers = sorted(number for part in pool.map(trial_numbers, range(3)) for number in part)
    assert numbers == list(range(7))


def test_a_trial_of_a_dead_search_is_resumed_with_its_number_and_values(tmp_path: Path) -> None:
    dead, here = (StudyDB(tmp_path, "study", SPACE, 1) for _ in range(2))
    with dead.alive():
        first = dead.next_trial("cpu")
        assert first is not None
        assert here.next_trial("cpu") is None  # its owner is alive
    again = here.next_trial("cpu")
    assert again is not None
    assert (again.number, again.params) == (first.number, first.params)
    assert again.user_attrs["owner"]["attempts"] == 2


def test_a_trial_at_which_searches_keep_dying_fails(tmp_path: Path) -> None:
    for _ in range(MAX_ATTEMPTS):
        db = StudyDB(tmp_path, "study", SPACE, 1)
        with db.alive():
            assert db.next_trial("cpu") is not None
    db = StudyDB(tmp_path, "study", SPACE, 1)
    assert db.next_trial("cpu") is None
    assert db.read_trials()[0].user_attrs["reason"] == f"interrupted {MAX_ATTEMPTS} times"


def test_a_trial_of_another_machine_is_taken_over_when_its_heartbeat_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = StudyDB(tmp_path, "study", SPACE, 1)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "gethostname", lambda: "elsewhere")
        other = StudyDB(tmp_path, "study", SPACE, 1)
    assert other.next_trial("cpu") is not None
    assert db.next_trial("cpu") is None
    monkeypatch.setattr("sign.search.study_db.GRACE_SECONDS", -1)  # every heartbeat is too old
    assert db.next_trial("cpu") is not None


def test_a_released_trial_is_resumed_at_once_and_counts_no_attempt(tmp_path: Path) -> None:
    here, elsewhere = (StudyDB(tmp_path, "study", SPACE, 1) for _ in range(2))
    elsewhere.owner["host"] = "elsewhere"
    for _ in range(MAX_ATTEMPTS):
        for db in (here, elsewhere):
            trial = db.next_trial("cpu")
            assert trial is not None
            db.release(trial)
    assert here.read_trials()[0].state == TrialState.RUNNING


def test_a_search_in_a_container_with_the_same_host_name_counts_as_alive(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    one, two = (StudyDB(tmp_path / name, "study", SPACE, 1, storage) for name in "ab")
    with one.alive():
        assert one.next_trial("cpu") is not None
        one.alive_lock.parent.rename(tmp_path / "not seen from here")
        assert two.next_trial("cpu") is None


def test_a_trial_that_two_machines_ran_keeps_its_first_result(tmp_path: Path) -> None:
    slow, fast = (StudyDB(tmp_path, "study", SPACE, 1) for _ in range(2))
    with slow.alive():
        ours = slow.next_trial("cpu")
    assert ours is not None
    theirs = fast.next_trial("cpu")  # the other one seemed dead
    assert theirs is not None
    assert not slow.heartbeat(ours)
    owner = slow.read_trials()[0].user_attrs["owner"]
    slow.release(ours)
    assert slow.read_trials()[0].user_attrs["owner"] == owner
    assert fast.heartbeat(theirs)
    fast.finish(theirs, TrialState.COMPLETE, 1.0, seconds=3.0)
    slow.finish(ours, TrialState.COMPLETE, 2.0, seconds=9.0)
    slow.finish(ours, TrialState.FAIL, reason="too late")
    slow.finish(ours, TrialState.PRUNED)
    assert (slow.read_trials()[0].value, slow.read_trials()[0].user_attrs["seconds"]) == (1.0, 3.0)
    assert slow.read_trials()[0].state == TrialState.COMPLETE


def test_concurrent_searches_draw_the_values_that_one_search_would_draw(tmp_path: Path) -> None:
    node = OmegaConf.create({"_target_": "optuna.samplers.TPESampler", "seed": 0, "constant_liar": True})
    make = partial(make_sampler, node)
    one, two = (StudyDB(tmp_path, "study", SPACE, 8, sampler=make) for _ in range(2))
    with one.alive(), two.alive():
        drawn = [db.next_trial("cpu").params["x"] for _ in range(4) for db in (one, two)]
    assert len(set(drawn)) == 8
    alone = StudyDB(tmp_path / "alone", "study", SPACE, 8, sampler=make)
    with alone.alive():
        assert [alone.next_trial("cpu").params["x"] for _ in range(8)] == drawn


def test_queued_values_are_used_in_order_and_once(tmp_path: Path) -> None:
    points = [{"x": value} for value in (0.0, 0.5, 1.0)]
    db = StudyDB(tmp_path, "study", SPACE, 3, queue=points)
    params = []
    while trial := db.next_trial("cpu"):
        params.append(trial.params)
        db.finish(trial, TrialState.COMPLETE, 0.0)
    assert params == points


def test_a_study_rejects_settings_other_than_those_it_was_started_with(tmp_path: Path) -> None:
    StudyDB(tmp_path, "study", SPACE, 1).check_identity({"model.p": 3})
    StudyDB(tmp_path, "study", SPACE, 1).check_identity({"model.p": 3})
    with pytest.raises(SignError, match=r"model.p=4: the study study was started with 3; keep that value"):
        StudyDB(tmp_path, "study", SPACE, 1).check_identity({"model.p": 4})


def test_a_trial_killed_before_it_was_handed_out_gets_its_missing_values(tmp_path: Path) -> None:
    space = {**SPACE, "y": IntDistribution(1, 9, step=2), "z": CategoricalDistribution(["a", "b"])}
    db = StudyDB(tmp_path, "study", space, 1)
    x = db.study.ask({"x": SPACE["x"]}).params["x"]
    trial = db.next_trial("cpu")
    assert trial is not None
    assert (trial.number, trial.params["x"], list(trial.params)) == (0, x, ["x", "y", "z"])
    assert db.read_trials()[0].distributions == space


@pytest.mark.parametrize("kept", range(4))
def test_a_kill_while_values_are_drawn_does_not_change_them(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = partial(make_sampler, OmegaConf.create({"_target_": "optuna.samplers.TPESampler", "seed": 0}))
    space = {name: IntDistribution(1, 1000) for name in "wxyz"}
    expected = StudyDB(tmp_path / "alone", "study", space, 1, sampler=make).next_trial("cpu")
    killed = StudyDB(tmp_path, "study", space, 1, sampler=make)

    def kill(trial: Trial, distributions: dict[str, BaseDistribution]) -> None:
        suggest(trial, dict(list(distributions.items())[:kept]))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(study_db, "suggest", kill)
        with pytest.raises(KeyboardInterrupt):
            killed.next_trial("cpu")
    resumed = StudyDB(tmp_path, "study", space, 1, sampler=make).next_trial("cpu")
    assert expected is not None
    assert resumed is not None
    assert (resumed.number, resumed.params) == (0, expected.params)


JOINED = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from common.search import SPACE, Silent, command
from sign.search.study_db import StudyDB
from sign.search.scheduler import Scheduler
from sign.search.slots import SlotPool, make_slots
db = StudyDB(Path({folder!r}), "joined", SPACE, 8, {server!r})
Scheduler(db, SlotPool(make_slots(2, None, "cpu")), command(lambda n: ["seconds=0.3"]), Silent()).run()
"""


@pytest.mark.slow
@pytest.mark.postgres
def test_two_machines_complete_one_study_in_postgresql(server: str, tmp_path: Path) -> None:
    tests = REPOSITORY / "tests"
    path = [str(tests), str(tests.parent / "src")]
    programs = [JOINED.format(path=path, folder=str(tmp_path / host), server=server) for host in "ab"]
    assert abs(DBLock(server, "joined").time() - time.time()) < 60
    processes = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
    assert [process.wait(120) for process in processes] == [0, 0]
    storage = optuna.storages.RDBStorage(server)
    trials = optuna.load_study(study_name="joined", storage=storage).trials
    storage.engine.dispose()  # the server ends with these tests
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 8
    assert len({trial.params["x"] for trial in trials}) == 8
    folders = [folder.name for folder in tmp_path.glob("*/trial-*")]
    assert sorted(folders) == [f"trial-{number:04d}" for number in range(8)]


def test_the_best_trial_is_that_of_optuna(tmp_path: Path) -> None:
    db = search(tmp_path, 4, make_slots(1, None, "cpu"), lambda number: [])
    study = optuna.load_study(study_name="study", storage=f"sqlite:///{tmp_path}/study.db")
    assert db.best_trial() == study.best_trial
