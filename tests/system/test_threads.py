"""Threads: as many as there are cores for a process, and none that spins on a core that others need."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sign.system import memory, threads


class Others(threads.Load):
    """Other processes that use a known number of cores."""

    def __init__(self, cores: float) -> None:
        self.used = cores

    def cores(self) -> float:
        return self.used


@pytest.fixture(autouse=True)
def eight_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with eight cores and no control groups, in a process that has not loaded torch."""
    with monkeypatch.context() as patch:
        patch.setattr(threads, "libraries_loaded", lambda: False)
        patch.setattr(os, "environ", {})
        patch.setattr(threads, "_description", "")
        patch.setattr(memory, "CGROUP", tmp_path)
        patch.setattr(threads, "allowed_cores", lambda: set(range(8)))
        yield


def variables() -> dict[str, str]:
    """The variables that concern threads."""
    return {name: value for name, value in os.environ.items() if name.startswith(("OMP_", "GOMP_", "NUMBA_"))}


def test_alone_every_core_has_a_thread_that_may_spin() -> None:
    text = threads.configure(Others(0.2))
    assert text == "threads: 8 on 8 cores; they spin while they wait, since the cores are free"
    assert variables() == {"OMP_NUM_THREADS": "8", "NUMBA_NUM_THREADS": "8"}


@pytest.mark.parametrize(("ranks", "slots", "share"), [(2, 1, "4"), (1, 3, "2"), (2, 2, "2"), (3, 5, "1")])
def test_ranks_and_slots_share_the_cores_and_do_not_spin(ranks: int, slots: int, share: str) -> None:
    os.environ[memory.SHARES_VARIABLE] = str(slots)
    assert f"{ranks * slots} processes share the cores" in threads.configure(Others(0.0), ranks)
    assert (os.environ["OMP_NUM_THREADS"], os.environ["GOMP_SPINCOUNT"]) == (share, "1000")


def test_beside_other_processes_threads_sleep() -> None:
    assert "since other processes use 1.5 cores" in threads.configure(Others(1.5))
    assert os.environ["GOMP_SPINCOUNT"] == "1000"


@pytest.mark.parametrize(
    "files", [{"cpu.max": "250000 100000"}, {"cpu/cpu.cfs_quota_us": "250000", "cpu/cpu.cfs_period_us": "100000"}]
)
def test_a_control_group_limits_the_threads(tmp_path: Path, files: dict[str, str]) -> None:
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert "since a control group limits" in threads.configure(Others(0.0))
    assert os.environ["OMP_NUM_THREADS"] == "3"


def test_an_unlimited_control_group_limits_nothing(tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text("max 100000")
    assert threads.available_cores() == 8


def test_what_the_user_has_set_stays() -> None:
    os.environ |= {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active"}
    text = threads.configure(Others(4.0), ranks=2)
    assert text == "threads: 2 on 8 cores; they wait by OMP_WAIT_POLICY=active"
    assert variables() == {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "active", "NUMBA_NUM_THREADS": "2"}
    os.environ["NUMBA_NUM_THREADS"] = "4"
    threads.configure(Others(0.0))
    assert os.environ["NUMBA_NUM_THREADS"] == "4"


def test_nothing_is_set_once_a_library_has_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "libraries_loaded", lambda: True)
    assert threads.configure(Others(4.0)) == ""
    assert variables() == {}


def test_the_load_of_others_is_what_is_neither_idle_nor_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    idle, now, own = [100.0], [10.0], [3.0]
    monkeypatch.setattr(threads, "idle_seconds", lambda: idle[0])
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("time.process_time", lambda: own[0])
    load = threads.Load()
    idle[0], now[0], own[0] = 110.0, 12.0, 4.0  # in two seconds: ten idle, one ours, five of others
    assert load.cores() == pytest.approx(2.5)
    monkeypatch.setattr(threads, "idle_seconds", lambda: 0.0)  # not Linux
    assert threads.Load().cores() == 0.0


def test_idle_time_is_that_of_the_allowed_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "STAT", tmp_path / "stat")
    monkeypatch.setattr(threads, "allowed_cores", lambda: {1})
    assert threads.idle_seconds() == 0.0
    ticks = os.sysconf("SC_CLK_TCK")
    rows = [f"cpu{core} 1 2 3 {5 * core * ticks} {ticks} 7 8 0 0 0" for core in range(3)]
    (tmp_path / "stat").write_text("\n".join(["cpu  9 9 9 9 9 9 9 9 0 0", *rows, "intr 5"]))
    assert threads.idle_seconds() == 6.0
