"""Slots: places where one process at a time runs, each pinned to a device."""

import json
import math
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sign.errors import FieldError
from sign.search.worker import PARENT, RESULT
from sign.system import memory

VISIBLE = "CUDA_VISIBLE_DEVICES"
# Of this process alone: how it shows errors, and its place among those that torchrun or srun started.
FOREIGN = {"HYDRA_FULL_ERROR", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}
FOREIGN |= {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}
THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
ANSWER, OUT, ERR = "result.json", "stdout.txt", "stderr.txt"
LONGEST = 300  # characters of a reason


@dataclass(frozen=True)
class Slot:
    """A place to run: the GPU that a process there sees, or None for the CPU."""

    index: int
    device: str | None

    def __str__(self) -> str:
        return "cpu" if self.device is None else f"gpu {self.device}"


@dataclass(frozen=True)
class Outcome:
    """What a process came to: a value, or the reason why there is none."""

    value: float | None
    reason: str | None
    seconds: float


@dataclass
class Running:
    """A process on a slot, with a folder of its own for its output and its result."""

    slot: Slot
    folder: Path
    process: subprocess.Popen[bytes]
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self.started

    def outcome(self) -> Outcome | None:
        """None while it is running."""
        code = self.process.poll()
        if code is None:
            return None
        value, reason = _result(self.folder, code)
        return Outcome(value, reason, self.seconds)

    def stop(self) -> None:
        """End the process and what it started, at once: a run folder is whole at any time."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def start(slot: Slot, slots: int, command: Sequence[str], folder: Path, show: bool = False) -> Running:
    """Run a command on a slot; its output goes to files in the folder, or to the terminal if ``show``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ANSWER).unlink(missing_ok=True)  # of an attempt that was interrupted
    with (folder / OUT).open("wb") as out, (folder / ERR).open("wb") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=None if show else out,
            stderr=err,
            env=environment(slot, slots, folder),
            start_new_session=True,  # Ctrl-C is for the search, which ends its processes itself
        )
    return Running(slot, folder, process)


def environment(slot: Slot, slots: int, folder: Path) -> dict[str, str]:
    """What a process on a slot sees: its own device, its share of the processor, where to leave its result."""
    seen = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    seen |= {RESULT: str((folder / ANSWER).resolve()), PARENT: str(os.getpid())}
    seen[memory.SHARES_VARIABLE] = str(slots)
    if slot.device is not None:
        seen[VISIBLE] = slot.device
    elif slots > 1:
        share = max(1, len(os.sched_getaffinity(0)) // slots) if hasattr(os, "sched_getaffinity") else 1
        seen = {name: str(share) for name in THREADS} | seen
    return seen


def make_slots(count: int | None, devices: Any, accelerator: str) -> list[Slot]:
    """``count`` slots over the devices in turn; None: one a device."""
    found = find_devices(devices, accelerator)
    return [Slot(index, found[index % len(found)]) for index in range(count or len(found))]


def find_devices(wanted: Any, accelerator: str) -> list[str | None]:
    """The GPUs that may be used, found without loading torch; [None] where there is none."""
    if wanted is not None:
        if not isinstance(wanted, list | tuple) or not wanted or len(set(map(str, wanted))) < len(wanted):
            raise FieldError("search.devices", wanted, "give a list of different GPUs such as [0,1]")
        return [str(device) for device in wanted]
    if accelerator not in ("auto", "gpu"):
        return [None]
    if (visible := os.environ.get(VISIBLE)) is not None:
        return [name.strip() for name in visible.split(",") if name.strip() not in ("", "-1")] or [None]
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return [None]
    count = sum(line.startswith("GPU ") for line in listed.splitlines())
    return [str(index) for index in range(count)] or [None]


def _result(folder: Path, code: int) -> tuple[float | None, str | None]:
    if code < 0:
        return None, f"killed by signal {-code}" + (" (out of memory?)" if -code == signal.SIGKILL else "")
    if code > 0:
        return None, last_line(folder / ERR) or f"ended with exit code {code}"
    try:
        value = json.loads((folder / ANSWER).read_text())["value"]
    except (OSError, ValueError, KeyError):
        return None, "ended without a result"
    if value is not None and not math.isfinite(value):
        return None, f"validation loss was {value}"
    return value, None


def last_line(file: Path) -> str:
    """The last thing that was said, without the word error."""
    lines = [line.strip() for line in file.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ")[:LONGEST] if lines else ""
