"""Workers that are forks of a server with the libraries: the same outcomes as those of new processes."""

import os
import signal
import sys
from pathlib import Path

import pytest

from sign.errors import SignError
from sign.search import preload
from sign.search.preload import PreloadingPool
from sign.search.slots import Slot

SLOT = Slot(0, "3")
PROGRAM = """
import json, os, sys
result = os.environ["SIGN_RESULT"]
value = {"arguments": sys.argv[1:], "group": os.getpgid(0) == os.getpid(), "device": os.environ["CUDA_VISIBLE_DEVICES"]}
print("shown")
json.dump({"value": len(sys.argv)} | value, open(result, "w"))
"""


@pytest.fixture(autouse=True)
def light_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import nothing in advance, which takes seconds."""
    monkeypatch.setattr(preload, "LIBRARIES", ["json"])


def program(folder: Path, text: str) -> list[str]:
    file = folder / "program.py"
    file.write_text(text)
    return [sys.executable, str(file), "a=1", "b=2"]


def test_a_worker_has_the_arguments_the_environment_and_the_output_of_a_process(tmp_path: Path) -> None:
    with PreloadingPool([SLOT]) as pool:
        worker = pool.start(SLOT, program(tmp_path, PROGRAM), tmp_path)
        assert worker.process.wait() == 0
        ((_, outcome),) = pool.wait()
    assert outcome.value == 3
    assert (tmp_path / "result.json").read_text() == (
        '{"value": 3, "arguments": ["a=1", "b=2"], "group": true, "device": "3"}'
    )
    assert (tmp_path / "stdout.txt").read_text() == "shown\n"
    assert "SIGN_RESULT" not in os.environ


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys; sys.exit('error: model.p=-1: a power')", "model.p=-1: a power"),
        ("raise ValueError('a defect')", "ValueError: a defect"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "killed by signal 15"),
    ],
)
def test_the_reason_why_a_worker_has_no_result(tmp_path: Path, text: str, reason: str) -> None:
    with PreloadingPool([SLOT]) as pool:
        pool.start(SLOT, program(tmp_path, text), tmp_path).process.wait()
        ((_, outcome),) = pool.wait()
    assert (outcome.value, outcome.reason) == (None, reason)


def test_leaving_a_pool_kills_its_workers(tmp_path: Path) -> None:
    with PreloadingPool([SLOT]) as pool:
        worker = pool.start(SLOT, program(tmp_path, "import time; time.sleep(60)"), tmp_path)
        assert pool.wait() == []
    assert worker.process.poll() == -signal.SIGKILL


def test_a_system_without_forks_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    with PreloadingPool([SLOT]) as pool, pytest.raises(SignError, match=r"search\.preload=true: processes cannot be"):
        pool.start(SLOT, program(tmp_path, ""), tmp_path)
