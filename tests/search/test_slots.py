"""Devices, slots and worker processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from common.paths import REPOSITORY

from sign.errors import SignError
from sign.search.forkserver import LIBRARIES
from sign.search.slots import Slot, SlotPool, environment, find_devices, make_slots
from sign.system.memory import SHARES_VARIABLE

SLOT = Slot(0, "3")


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


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], list[str]]:
    """Return a function from the text of a program to its command."""

    def write(text: str) -> list[str]:
        file = tmp_path / "program.py"
        file.write_text(text)
        return [str(file), "a=1", "b=2"]

    return write


def test_the_reason_why_a_worker_has_no_result(tmp_path: Path, program: Callable[[str], list[str]]) -> None:
    reasons = {
        "import sys; print('  ', file=sys.stderr); sys.exit(3)": "exited with code 3",
        "import sys; sys.exit('error: model.p=-1: a power')": "model.p=-1: a power",
        "raise ValueError('a defect')": "ValueError: a defect",
        "import os; os.kill(os.getpid(), 15)": "killed by signal 15",
        "import os; os.kill(os.getpid(), 9)": "killed by signal 9 (out of memory?)",
        "pass": "exited without a result",
    }
    with SlotPool([SLOT]) as pool:
        for text, reason in reasons.items():
            (tmp_path / "result.json").write_text('{"value": 1.0}')  # of an earlier attempt
            outcome = pool.finish(pool.start(SLOT, program(text), tmp_path))
            assert (outcome.value, outcome.reason) == (None, reason)
            assert pool.free_slots == [SLOT]


def test_leaving_a_pool_kills_its_workers_and_their_children(
    tmp_path: Path, program: Callable[[str], list[str]]
) -> None:
    text = f"import os, time; os.fork(); open(f'{tmp_path}/{{os.getpid()}}.pid', 'w'); time.sleep(60)"
    with SlotPool([SLOT]) as pool:
        pool.start(SLOT, program(text), tmp_path)
        assert pool.free_slots == []
        while len(files := list(tmp_path.glob("*.pid"))) < 2:
            assert pool.wait() == []
    while any(is_running(int(file.stem)) for file in files):  # a signal takes a moment
        time.sleep(0.01)
    assert pool.free_slots == [SLOT]


def test_a_killed_worker_leaves_its_slot_to_the_next(tmp_path: Path, program: Callable[[str], list[str]]) -> None:
    with SlotPool([SLOT]) as pool:
        pool.start(SLOT, program("import time; time.sleep(60)"), tmp_path)
        pool.kill(SLOT)
        outcome = pool.finish(pool.start(SLOT, program("import sys; sys.exit('next')"), tmp_path))
    assert outcome.reason == "next"


def test_workers_die_with_their_server_and_the_pool_starts_another(
    tmp_path: Path, program: Callable[[str], list[str]]
) -> None:
    with SlotPool([SLOT]) as pool:
        assert pool.server is not None
        worker = pool.start(SLOT, program("import time; time.sleep(60)"), tmp_path)
        pool.server.process.kill()
        assert pool.finish(worker).reason == "killed by signal 9 (out of memory?)"
        assert pool.finish(pool.start(SLOT, program("import sys; sys.exit('next')"), tmp_path)).reason == "next"


def test_a_worker_starts_like_a_program_whose_libraries_are_imported(
    tmp_path: Path, program: Callable[[str], list[str]]
) -> None:
    text = """
import json, os, sys
state = [sys.argv[1:], __name__, sys.modules["__main__"].__spec__, sys.path[0], os.environ["CUDA_VISIBLE_DEVICES"]]
state += ["colorsys" in sys.modules, os.getpgid(0) == os.getpid(), sys.stdin.read(), os.environ["SIGN_SHARED_BY"]]
print(json.dumps(state))
json.dump({"value": 0.5}, open(os.environ["SIGN_RESULT"], "w"))
"""
    with SlotPool([SLOT], ["colorsys"]) as pool:
        assert pool.finish(pool.start(SLOT, program(text), tmp_path)).value == 0.5
    expected = [["a=1", "b=2"], "__main__", None, str(tmp_path), "3", True, True, "", "1"]
    assert json.loads((tmp_path / "stdout.txt").read_text()) == expected


@pytest.mark.slow
def test_the_libraries_start_no_parallel_loop_and_ask_for_no_gpu() -> None:
    code = f"""
import importlib, os, sys
importlib.import_module("torch")
import torch
def refuse(*_): raise RuntimeError("the GPU was asked for")
torch.cuda._lazy_init = torch.cuda.is_available = torch.cuda.device_count = refuse
for name in {LIBRARIES!r}: importlib.import_module(name)
from numba.core.registry import cpu_target
from numba.np.ufunc import parallel
from sign.system.jit import load_registries
before = len(cpu_target.target_context._defns)
load_registries()
assert len(cpu_target.target_context._defns) > before
assert not parallel._is_initialized
"""
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
    subprocess.run([sys.executable, "-c", code], check=True, env=variables)


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
