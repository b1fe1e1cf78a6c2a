"""Worker processes on slots, each pinned to a device."""

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
from typing import Any, Protocol

from sign.errors import FieldError
from sign.search.worker import PARENT, RESULT, DiskFull
from sign.system import memory

VISIBLE = "CUDA_VISIBLE_DEVICES"
# Not inherited by workers: how this process shows errors, and its rank under torchrun or srun.
NOT_INHERITED = {"HYDRA_FULL_ERROR", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}
NOT_INHERITED |= {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}
RESULT_FILE, STDOUT_FILE, STDERR_FILE = "result.json", "stdout.txt", "stderr.txt"
MAX_REASON = 300  # characters
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Slot:
    """A place for one worker at a time: the GPU that it sees, or None for the CPU."""

    index: int
    device: str | None

    def __str__(self) -> str:
        return "cpu" if self.device is None else f"gpu {self.device}"


@dataclass(frozen=True)
class Outcome:
    """The value that a worker returned, or the reason why there is none."""

    value: float | None
    reason: str | None
    seconds: float
    disk_full: bool = False  # no fault of the trial

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:.4f}"
        return f"failed: {self.reason}" if self.reason else "done"


class Process(Protocol):
    """What a pool needs of a process: that of a :class:`subprocess.Popen`."""

    @property
    def pid(self) -> int:
        """The process id, which is that of its group."""

    def poll(self) -> int | None:
        """Return the exit code, or None while the process is running."""

    def wait(self) -> int:
        """Wait for the end; return the exit code."""

    def kill(self) -> None:
        """Kill the process."""


@dataclass
class Worker:
    """A process on a slot, and the folder with its output and its result."""

    slot: Slot
    folder: Path
    process: Process
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def outcome(self) -> Outcome | None:
        """Return the outcome, or None while the process is running."""
        code = self.process.poll()
        if code is None:
            return None
        value, reason = None, "exited without a result"
        if code < 0:
            reason = f"killed by signal {-code}" + (" (out of memory?)" if -code == signal.SIGKILL else "")
        elif code > 0:
            reason = last_line(self.folder / STDERR_FILE) or f"exited with code {code}"
        else:
            with suppress(OSError, ValueError, KeyError):
                value, reason = json.loads((self.folder / RESULT_FILE).read_text())["value"], ""
        if value is not None and not math.isfinite(value):
            value, reason = None, f"the result was {value}"
        return Outcome(value, reason or None, self.seconds, code == DiskFull.exit_code)


class SlotPool:
    """At most one worker per slot; leaving the context kills those that are still running."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = slots
        self.workers: dict[Slot, Worker] = {}

    def __enter__(self) -> "SlotPool":
        return self

    def __exit__(self, *_: object) -> None:
        for slot in list(self.workers):
            self.kill(slot)

    @property
    def free_slots(self) -> list[Slot]:
        """The slots without a worker."""
        return [slot for slot in self.slots if slot not in self.workers]

    def start(self, slot: Slot, command: Sequence[str], folder: Path, show: bool = False) -> Worker:
        """Run a command on a free slot; its output goes to files in ``folder``, or to the terminal if ``show``."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULT_FILE).unlink(missing_ok=True)  # of an interrupted attempt
        process = self._launch(command, environment(slot, len(self.slots), folder), folder, show)
        self.workers[slot] = Worker(slot, folder, process)
        return self.workers[slot]

    def _launch(self, command: Sequence[str], variables: dict[str, str], folder: Path, show: bool) -> Process:
        with (folder / STDOUT_FILE).open("wb") as out, (folder / STDERR_FILE).open("wb") as err:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=None if show else out,
                stderr=err,
                env=variables,
                start_new_session=True,  # Ctrl-C reaches this process only, which then kills its workers
            )

    def wait(self) -> list[tuple[Worker, Outcome]]:
        """Wait a moment; return the workers that have exited, whose slots are then free."""
        time.sleep(POLL_SECONDS)
        exited = [(worker, outcome) for worker in self.workers.values() if (outcome := worker.outcome())]
        for worker, _ in exited:
            del self.workers[worker.slot]
        return exited

    def kill(self, slot: Slot) -> None:
        """Kill the worker of a slot and its children; a run folder is consistent at any time."""
        process = self.workers.pop(slot).process
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()  # it may not lead its group yet
        process.wait()


def environment(slot: Slot, slots: int, folder: Path) -> dict[str, str]:
    """Return the environment of a worker: its device, its share of the processor, and where to write its result."""
    variables = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    variables |= {RESULT: str((folder / RESULT_FILE).resolve()), PARENT: str(os.getpid())}
    variables[memory.SHARES_VARIABLE] = str(slots)
    if slot.device is not None:
        variables[VISIBLE] = slot.device
    return variables


def make_slots(count: int | None, devices: Any, accelerator: str) -> list[Slot]:
    """Return ``count`` slots, distributed over the devices in turn; None: one per device."""
    available = find_devices(devices, accelerator)
    return [Slot(index, available[index % len(available)]) for index in range(count or len(available))]


def find_devices(devices: Any, accelerator: str) -> list[str | None]:
    """Return the GPUs to use, without importing torch; [None] if there is none."""
    if devices is not None:
        if not isinstance(devices, list | tuple) or not devices or len(set(map(str, devices))) < len(devices):
            raise FieldError("search.devices", devices, "must be a list of distinct GPUs such as [0,1]")
        return [str(device) for device in devices]
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


def last_line(file: Path) -> str:
    """Return the last line of a file that is not blank, without the prefix ``error:``."""
    lines = [line.strip() for line in file.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ")[:MAX_REASON] if lines else ""
