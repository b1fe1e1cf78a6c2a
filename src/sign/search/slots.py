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
from typing import Any

from omegaconf import DictConfig, OmegaConf

from sign.errors import FieldError
from sign.search.forkserver import STDERR_FILE, STDOUT_FILE, ForkServer
from sign.search.worker import RESULT, DiskFull
from sign.system import memory

VISIBLE = "CUDA_VISIBLE_DEVICES"
# Not inherited by workers: how this process shows errors, and its rank under torchrun or srun.
NOT_INHERITED = {"HYDRA_FULL_ERROR", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}
NOT_INHERITED |= {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}
RESULT_FILE = "result.json"
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


@dataclass
class Worker:
    """A process on a slot, and the folder with its output and its result."""

    number: int
    slot: Slot
    folder: Path
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def outcome(self, code: int) -> Outcome:
        """Return the outcome of a process that ended with an exit code; negative: the signal that killed it."""
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
    """At most one worker per slot; leaving the context kills those that are still running.

    Parameters
    ----------
    slots
        Places for workers.
    libraries
        What the server of the workers imports while the context is entered.
    ranks
        Ranks of a run on this machine.
    """

    def __init__(self, slots: Sequence[Slot], libraries: Sequence[str] = (), ranks: int = 1) -> None:
        self.slots, self.libraries, self.ranks = slots, libraries, ranks
        self.workers: dict[Slot, Worker] = {}
        self.server: ForkServer | None = None
        self.started = 0

    def __enter__(self) -> "SlotPool":
        if self.server is None:
            self.server = ForkServer(self.libraries, shared_environment(len(self.slots)), self.ranks)
        return self

    def __exit__(self, *_: object) -> None:
        if self.server is not None:
            self.server.close()
        self.server = None
        self.workers.clear()

    @property
    def free_slots(self) -> list[Slot]:
        """The slots without a worker."""
        return [slot for slot in self.slots if slot not in self.workers]

    def start(self, slot: Slot, command: Sequence[str], folder: Path, show: bool = False) -> Worker:
        """Run a Python program, a file and its arguments, on a free slot.

        Its output goes to files in ``folder``, or to the terminal if ``show``.
        """
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULT_FILE).unlink(missing_ok=True)  # of an interrupted attempt
        for name in (STDOUT_FILE, STDERR_FILE):
            (folder / name).write_bytes(b"")
        self.started += 1
        worker = self.workers[slot] = Worker(self.started, slot, folder)
        self._running_server().start(worker.number, command, environment(slot, len(self.slots), folder), folder, show)
        return worker

    def wait(self) -> list[tuple[Worker, Outcome]]:
        """Wait a moment; return the workers that have exited, whose slots are then free."""
        time.sleep(POLL_SECONDS)
        server = self._running_server()
        codes = {worker.number: server.poll(worker.number) for worker in self.workers.values()}
        exited = [worker for worker in self.workers.values() if codes[worker.number] is not None]
        for worker in exited:
            del self.workers[worker.slot]
        if not server.alive and not self.workers:
            self.__exit__()
            self.__enter__()
        return [(worker, worker.outcome(codes[worker.number] or 0)) for worker in exited]

    def finish(self, worker: Worker) -> Outcome:
        """Wait for the end of a worker."""
        while True:
            for exited, outcome in self.wait():
                if exited is worker:
                    return outcome

    def kill(self, slot: Slot) -> None:
        """Kill the worker of a slot and its children; a run folder is consistent at any time."""
        server, number = self._running_server(), self.workers.pop(slot).number
        server.kill(number)
        while server.poll(number) is None:
            time.sleep(POLL_SECONDS)

    def _running_server(self) -> ForkServer:
        assert self.server is not None  # within the context
        return self.server


def local_ranks(config: DictConfig) -> int:
    """The ranks of a run on this machine, as far as they are known before torch is loaded."""
    devices = OmegaConf.select(config, "trainer.devices", default=1)
    if devices is None:  # one per GPU
        return len(find_devices(None, str(config.trainer.accelerator)))
    return devices if isinstance(devices, int) and devices > 0 else 1  # a wrong setting is reported later


def environment(slot: Slot, slots: int, folder: Path) -> dict[str, str]:
    """Return the environment of a worker: its device, and where to write its result."""
    variables = shared_environment(slots) | {RESULT: str((folder / RESULT_FILE).resolve())}
    return variables if slot.device is None else variables | {VISIBLE: slot.device}


def shared_environment(slots: int) -> dict[str, str]:
    """Return what the environments of all workers have in common, with their share of the machine."""
    variables = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return variables | {memory.SHARES_VARIABLE: str(slots)}


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
