"""The lock, the clock and the error messages of a study's database."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from common.search import SPACE

from sign.errors import SignError
from sign.search.db_lock import DBLock
from sign.search.study_db import StudyDB


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    holders: list[int] = []

    def hold(number: int) -> int:
        with DBLock(f"sqlite:///{tmp_path}/study.db", "study").hold():
            holders.append(number)
            time.sleep(0.05)
            most = len(holders)
            holders.remove(number)
            return most

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(hold, range(4))) == [1] * 4


def test_the_clock_of_the_database_is_utc(tmp_path: Path) -> None:
    assert abs(DBLock(f"sqlite:///{tmp_path}/study.db", "study").time() - time.time()) < 60


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("study.db", "search.storage=study.db…: not the address of a database"),
        ("mysql://host/name", "search.storage=mysql://host/name: choose SQLite or PostgreSQL"),
        ("postgresql+nodriver://host/name", "search.storage=postgresql+nodriver…: not the address"),
    ],
)
def test_a_wrong_address_is_explained(address: str, message: str) -> None:
    with pytest.raises(SignError) as caught:
        DBLock(address, "study")
    assert str(caught.value).startswith(message)


def test_an_unreachable_server_is_explained_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(SignError, match="is unreachable") as caught:
        StudyDB(tmp_path, "study", SPACE, 1, f"postgresql+psycopg://me:secret@/x?host={tmp_path}")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_failure_of_the_database_is_explained(tmp_path: Path) -> None:
    db = StudyDB(tmp_path, "study", SPACE, 1)
    (tmp_path / "study.db").write_text("overwritten")
    message = r"^search.storage=sqlite:.*study.db: the database failed \(file is not a database\)$"
    with pytest.raises(SignError, match=message):
        StudyDB(tmp_path, "study", SPACE, 1)
    with pytest.raises(SignError, match=message), db.lock.errors_explained():
        db.next_trial("cpu")
