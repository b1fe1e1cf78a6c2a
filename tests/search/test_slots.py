"""Devices, slots and worker processes."""

import os
import signal
import sys
from pathlib import Path

import pytest

from sign.errors import SignError
from sign.search.slots import Slot, SlotPool, environment, find_devices, make_slots
from sign.system.memory import SHARES_VARIABLE


def test_only_visible_gpus_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_wrong_list_of_devices_is_explained(devices: object) -> None:
    with pytest.raises(SignError, match=r"search.devices=.*: must be a list of distinct GPUs such as \[0,1\]"):
        find_devices(devices, "auto")


def test_a_worker_sees_its_device_and_knows_how_many_share_the_machine(tmp_path: Path) -> None:
    variables = environment(Slot(0, "3"), 8, tmp_path)
    assert (variables["CUDA_VISIBLE_DEVICES"], variables[SHARES_VARIABLE]) == ("3", "8")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import sys; print('  ', file=sys.stderr); sys.exit(3)", "exited with code 3"),
        ("import sys; sys.exit('error: model.p=-1: a power')", "model.p=-1: a power"),
        ("pass", "exited without a result"),
    ],
)
def test_the_reason_why_a_worker_has_no_result(tmp_path: Path, code: str, reason: str) -> None:
    (tmp_path / "result.json").write_text('{"value": 1.0}')  # of an earlier attempt
    with SlotPool([Slot(0, None)]) as pool:
        worker = pool.start(Slot(0, None), [sys.executable, "-I", "-S", "-c", code], tmp_path)
        worker.process.wait()
        ((_, outcome),) = pool.wait()
    assert (outcome.value, outcome.reason) == (None, reason)


def test_leaving_a_pool_kills_its_workers(tmp_path: Path) -> None:
    slot = Slot(0, None)
    with SlotPool([slot]) as pool:
        worker = pool.start(slot, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], tmp_path)
        assert pool.free_slots == []
        assert pool.wait() == []
    assert worker.process.poll() == -signal.SIGKILL
    assert pool.free_slots == [slot]
