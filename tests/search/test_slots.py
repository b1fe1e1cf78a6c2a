"""Devices and processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sign.errors import SignError
from sign.search.slots import Slot, environment, find_devices, make_slots, start
from sign.search.worker import PARENT, RESULT


def test_the_gpus_that_may_be_used_are_those_that_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,GPU-5f1c")
    assert find_devices(None, "auto") == ["2", "GPU-5f1c"]
    assert find_devices(None, "cpu") == [None]
    assert find_devices([4, 5], "auto") == ["4", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert find_devices(None, "auto") == [None]


def test_gpus_are_counted_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'GPU 0: A (UUID: x)'\necho 'GPU 1: B (UUID: y)'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [str(slot) for slot in make_slots(None, None, "auto")] == ["gpu 0", "gpu 1"]
    assert [slot.device for slot in make_slots(3, None, "auto")] == ["0", "1", "0"]


@pytest.mark.parametrize("devices", [3, [], [1, 1], "0,1"])
def test_a_wrong_list_of_devices_gets_one_sentence(devices: object) -> None:
    with pytest.raises(SignError, match=r"search.devices=.*: give a list of different GPUs such as \[0,1\]"):
        find_devices(devices, "auto")


def test_slots_of_a_processor_share_its_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert environment(Slot(0, None), 2, tmp_path)["OMP_NUM_THREADS"] == "4"
    assert "OMP_NUM_THREADS" not in environment(Slot(0, None), 1, tmp_path)
    assert environment(Slot(0, "3"), 8, tmp_path)["CUDA_VISIBLE_DEVICES"] == "3"
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert environment(Slot(0, None), 2, tmp_path)["OMP_NUM_THREADS"] == "1"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; print('  ', file=sys.stderr); sys.exit(3)", "ended with exit code 3"),
        ("import sys; sys.exit('error: model.p=-1: a power')", "model.p=-1: a power"),
        ("pass", "ended without a result"),
    ],
)
def test_why_a_process_has_no_result(tmp_path: Path, code: str, reason: str) -> None:
    (tmp_path / "result.json").write_text('{"value": 1.0}')  # of an attempt before
    running = start(Slot(0, None), 1, [sys.executable, "-I", "-S", "-c", code], tmp_path)
    running.process.wait()
    outcome = running.outcome()
    assert outcome is not None
    assert (outcome.value, outcome.reason) == (None, reason)


def test_a_process_whose_parent_is_gone_does_not_begin(tmp_path: Path) -> None:
    code = "from sign.search.worker import answering; answering(print); print('began')"
    named = {RESULT: str(tmp_path / "result.json"), PARENT: "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **named}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")
