"""One process at a time holds the lock of a folder; the system releases it when the process ends."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sign.system.locks import LOCK_FILE, exclusive_lock, try_lock

HOLD = """
import sys
from pathlib import Path
from sign.system.locks import exclusive_lock
with exclusive_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""
COUNT = """
import sys
from pathlib import Path
from sign.system.locks import exclusive_lock
file = Path(sys.argv[1]) / "count"
for _ in range(50):
    with exclusive_lock(file.parent):
        count = int(file.read_text()) if file.exists() else 0
        file.write_text(str(count + 1))
"""


def start(code: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2] / "src",
    )


@pytest.fixture
def holder(tmp_path: Path):
    """A process that holds the lock of a folder until its input ends."""
    process = start(HOLD, tmp_path / "folder")
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_lock_that_another_process_holds_is_not_free(holder: subprocess.Popen, tmp_path: Path) -> None:
    with try_lock(tmp_path / "folder") as free:
        assert not free
    holder.kill()
    holder.wait()
    with try_lock(tmp_path / "folder") as free:
        assert free


def test_waiting_is_reported_and_ends_with_the_holder(holder: subprocess.Popen, tmp_path: Path) -> None:
    reported = []

    def on_wait() -> None:
        reported.append(True)
        holder.kill()

    with exclusive_lock(tmp_path / "folder", on_wait):
        assert reported


def test_increments_of_several_processes_are_not_lost(tmp_path: Path) -> None:
    processes = [start(COUNT, tmp_path / "folder") for _ in range(3)]
    assert all(process.communicate()[0] == "" for process in processes)
    assert all(process.returncode == 0 for process in processes)
    assert (tmp_path / "folder" / "count").read_text() == "150"


def test_a_folder_that_was_removed_while_waiting_is_created_again(holder: subprocess.Popen, tmp_path: Path) -> None:
    def on_wait() -> None:
        shutil.rmtree(tmp_path / "folder")
        holder.kill()

    with exclusive_lock(tmp_path / "folder", on_wait), try_lock(tmp_path / "folder") as free:
        assert (tmp_path / "folder" / LOCK_FILE).is_file()
        assert not free
