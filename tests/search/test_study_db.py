"""The study in its database, shared by several searches."""

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
from optuna.trial import TrialState

from sign.errors import SignError
from sign.search.db_lock import Turn
from sign.search.sampler import make_sampler
from sign.search.slots import make_slots
from sign.search.study_db import ATTEMPTS, Ledger


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server of this test's own, without a network port."""
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
    deadline = time.monotonic() + 60
    while not (folder / ".s.PGSQL.5432").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    yield f"postgresql+psycopg://sign@/postgres?host={folder}"
    pid = int((data / "postmaster.pid").read_text().split()[0])
    os.kill(pid, 3)  # at once, without waiting for connections
    process.wait(30)
    log.close()
    shutil.rmtree(folder)


def test_each_trial_is_claimed_once_and_only_so_many_are(tmp_path: Path) -> None:
    def claimed(_: int) -> list[int]:
        ledger = Ledger(tmp_path, "study", SPACE, 7)
        with ledger.present():
            found = []
            while trial := ledger.claim("cpu"):
                found.append(trial.number)
                ledger.succeed(trial, 0.0)
        return found

    with ThreadPoolExecutor(3) as pool:
        numbers = sorted(number for found in pool.map(claimed, range(3)) for number in found)
    assert numbers == list(range(7))


def test_what_a_search_that_is_gone_left_running_is_taken_over(tmp_path: Path) -> None:
    gone, here = (Ledger(tmp_path, "study", SPACE, 1) for _ in range(2))
    with gone.present():
        first = gone.claim("cpu")
        assert first is not None
        assert here.claim("cpu") is None  # its owner is alive
    again = here.claim("cpu")
    assert again is not None
    assert (again.number, again.params) == (first.number, first.params)
    assert again.user_attrs["owner"]["attempts"] == 2


def test_a_trial_that_is_interrupted_every_time_fails(tmp_path: Path) -> None:
    for _ in range(ATTEMPTS):
        ledger = Ledger(tmp_path, "study", SPACE, 1)
        with ledger.present():
            assert ledger.claim("cpu") is not None
    ledger = Ledger(tmp_path, "study", SPACE, 1)
    assert ledger.claim("cpu") is None
    assert ledger.trials[0].user_attrs["reason"] == f"interrupted {ATTEMPTS} times"


def test_a_trial_of_another_machine_is_left_alone_until_its_heart_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path, "study", SPACE, 1)
    with monkeypatch.context() as patch:
        patch.setattr(socket, "gethostname", lambda: "elsewhere")
        other = Ledger(tmp_path, "study", SPACE, 1)
    assert other.claim("cpu") is not None
    assert ledger.claim("cpu") is None
    ledger.storage.grace_period = -1  # any sign of life is too old
    assert ledger.claim("cpu") is not None


def test_a_trial_that_was_released_is_free_at_once_and_interrupted_any_number_of_times(
    tmp_path: Path,
) -> None:
    here, elsewhere = (Ledger(tmp_path, "study", SPACE, 1) for _ in range(2))
    elsewhere.owner["host"] = "elsewhere"
    for _ in range(ATTEMPTS):
        for ledger in (here, elsewhere):
            trial = ledger.claim("cpu")
            assert trial is not None
            ledger.release(trial)
    assert here.trials[0].state == TrialState.RUNNING


def test_a_container_of_the_same_name_is_left_alone(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    one, two = (Ledger(tmp_path / name, "study", SPACE, 1, storage) for name in "ab")
    with one.present():
        assert one.claim("cpu") is not None
        one.token.parent.rename(tmp_path / "not seen from here")
        assert two.claim("cpu") is None


def test_the_first_result_of_a_trial_that_two_machines_ran_stays(tmp_path: Path) -> None:
    slow, fast = (Ledger(tmp_path, "study", SPACE, 1) for _ in range(2))
    with slow.present():
        ours = slow.claim("cpu")
    assert ours is not None
    theirs = fast.claim("cpu")  # the other one seemed to be gone
    assert theirs is not None
    assert not slow.beat(ours)
    owner = slow.trials[0].user_attrs["owner"]
    slow.release(ours)
    assert slow.trials[0].user_attrs["owner"] == owner
    assert fast.beat(theirs)
    fast.succeed(theirs, 1.0, seconds=3.0)
    slow.succeed(ours, 2.0, seconds=9.0)
    slow.fail(ours, "too late")
    slow.prune(ours)
    assert (slow.trials[0].value, slow.trials[0].user_attrs["seconds"]) == (1.0, 3.0)
    assert slow.trials[0].state == TrialState.COMPLETE


def test_searches_that_begin_together_draw_different_values(tmp_path: Path) -> None:
    node = OmegaConf.create({"_target_": "optuna.samplers.TPESampler", "seed": 0, "constant_liar": True})
    make = partial(make_sampler, node)
    one, two = (Ledger(tmp_path, "study", SPACE, 8, sampler=make) for _ in range(2))
    with one.present(), two.present():
        drawn = [ledger.claim("cpu").params["x"] for _ in range(4) for ledger in (one, two)]
    assert len(set(drawn)) == 8
    alone = Ledger(tmp_path / "alone", "study", SPACE, 8, sampler=make)
    with alone.present():
        assert [alone.claim("cpu").params["x"] for _ in range(8)] == drawn


def test_the_points_of_a_grid_come_in_order_and_once(tmp_path: Path) -> None:
    points = [{"x": value} for value in (0.0, 0.5, 1.0)]
    ledger = Ledger(tmp_path, "study", SPACE, 3, queue=points)
    found = []
    while trial := ledger.claim("cpu"):
        found.append(trial.params)
        ledger.succeed(trial, 0.0)
    assert found == points


def test_other_settings_under_the_same_name_are_refused(tmp_path: Path) -> None:
    Ledger(tmp_path, "study", SPACE, 1).agree({"model.p": 3})
    Ledger(tmp_path, "study", SPACE, 1).agree({"model.p": 3})
    with pytest.raises(SignError, match=r"model.p=4: the study study was begun with 3; leave it so"):
        Ledger(tmp_path, "study", SPACE, 1).agree({"model.p": 4})


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("study.db", "search.storage=study.db…: not the address of a database"),
        ("mysql://host/name", "search.storage=mysql://host/name: choose SQLite or PostgreSQL"),
        ("postgresql+nodriver://host/name", "search.storage=postgresql+nodriver…: not the address"),
    ],
)
def test_a_wrong_address_gets_one_sentence(address: str, sentence: str) -> None:
    with pytest.raises(SignError) as caught:
        Turn(address, "study")
    assert str(caught.value).startswith(sentence)


def test_a_server_that_is_not_there_gets_one_sentence_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(SignError, match="cannot be reached") as caught:
        Ledger(tmp_path, "study", SPACE, 1, f"postgresql+psycopg://me:secret@/x?host={tmp_path}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_database_that_fails_gets_one_sentence(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "study", SPACE, 1)
    (tmp_path / "study.db").write_text("overwritten")
    sentence = r"^search.storage=sqlite:.*study.db: the database failed \(file is not a database\)$"
    with pytest.raises(SignError, match=sentence):
        Ledger(tmp_path, "study", SPACE, 1)
    with pytest.raises(SignError, match=sentence), ledger.turn.failures_told():
        ledger.claim("cpu")


JOINED = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from common.search import SPACE, Silent, command
from sign.search.study_db import Ledger
from sign.search.scheduler import Search
from sign.search.slots import make_slots
ledger = Ledger(Path({folder!r}), "joined", SPACE, 8, {server!r})
Search(ledger, make_slots(2, None, "cpu"), command(lambda n: ["seconds=0.3"]), Silent()).run()
"""


def test_two_machines_complete_one_study_in_postgresql(server: str, tmp_path: Path) -> None:
    tests = REPOSITORY / "tests"
    path = [str(tests), str(tests.parent / "src")]
    programs = [JOINED.format(path=path, folder=str(tmp_path / host), server=server) for host in "ab"]
    processes = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
    assert [process.wait(120) for process in processes] == [0, 0]
    storage = optuna.storages.RDBStorage(server)
    trials = optuna.load_study(study_name="joined", storage=storage).trials
    storage.engine.dispose()  # the server ends with these tests
    assert [trial.state for trial in trials] == [TrialState.COMPLETE] * 8
    assert len({trial.params["x"] for trial in trials}) == 8
    folders = [folder.name for folder in tmp_path.glob("*/trial-*")]
    assert sorted(folders) == [f"trial-{number:04d}" for number in range(8)]


def test_the_best_is_what_the_database_says(tmp_path: Path) -> None:
    ledger = search(tmp_path, 4, make_slots(1, None, "cpu"), lambda number: [])
    found = optuna.load_study(study_name="study", storage=f"sqlite:///{tmp_path}/study.db").best_trial
    assert ledger.best == found
