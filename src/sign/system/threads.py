"""Threads of torch and numba: how many there are and how they wait, decided before either library is loaded.

Both run parallel loops on GNU OpenMP, whose threads spin for milliseconds before they sleep. That is fast while every
thread has a core. Where cores are shared, a spinning thread takes the core that the thread it waits for would need.
"""

import math
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from sign.system import memory

OMP, NUMBA = "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"
WAITING = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
VARIABLES = (OMP, NUMBA, *WAITING)
FEW_SPINS = "1000"  # some microseconds: longer than the gap between two small kernels, shorter than a time slice
BUSY = 0.5  # cores that other processes may use before the cores count as shared
STAT = Path("/proc/stat")

_description = ""  # of what was chosen in this process, or in the one that it was forked from


class Load:
    """How many cores other processes have used since this object was created; 0 where that is unknown."""

    def __init__(self) -> None:
        self.started, self.idle, self.own = time.monotonic(), idle_seconds(), time.process_time()

    def cores(self) -> float:
        """The cores of this process that others used on average."""
        seconds = time.monotonic() - self.started
        if not self.idle or not seconds:
            return 0.0
        unused = idle_seconds() - self.idle + time.process_time() - self.own
        return max(0.0, len(allowed_cores()) - unused / seconds)


def configure(load: Load, ranks: int = 1) -> str:
    """Set the variables of OpenMP and numba that the user has not set; return a description of what holds.

    Once torch or numba has been loaded, which read the variables, nothing is changed: the description is that of the
    first call, or empty.

    Parameters
    ----------
    load
        Created when the command started.
    ranks
        Ranks of this run on this machine.
    """
    global _description
    if not libraries_loaded():
        processes, cores, others = ranks * memory.sharing_processes(), available_cores(), load.cores()
        chosen = os.environ.get(OMP) or str(max(1, cores // processes))
        os.environ[OMP] = chosen
        os.environ.setdefault(NUMBA, chosen)  # else its threads would become those of torch, which share a runtime
        _description = f"threads: {chosen} on {cores} cores; {_waiting(processes, cores, others)}"
    return _description


def libraries_loaded() -> bool:
    """Whether torch or numba has been imported in this process, which reads the variables only then."""
    return not {"torch", "numba"}.isdisjoint(sys.modules)


def _waiting(processes: int, cores: int, others: float) -> str:
    """Set how threads wait, unless the user has; return a description."""
    if set_by_user := [f"{name}={os.environ[name]}" for name in WAITING if os.environ.get(name)]:
        return f"they wait by {', '.join(set_by_user)}"
    if processes > 1:
        reason = f"{processes} processes share the cores"
    elif cores < len(allowed_cores()):
        reason = "a control group limits the processor time"
    elif others > BUSY:
        reason = f"other processes use {others:.1f} cores"
    else:
        return "they spin while they wait, since the cores are free"
    os.environ[WAITING[0]] = FEW_SPINS
    return f"they sleep while they wait, since {reason}"


def available_cores() -> int:
    """The cores that this process may use: by its affinity, and by the processor time of its control groups."""
    return max(1, math.ceil(min(len(allowed_cores()), *_quotas(), math.inf)))


def allowed_cores() -> set[int]:
    """The numbers of the cores that this process may run on."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def idle_seconds() -> float:
    """Sum the seconds that the cores of this process have been idle; 0 on systems other than Linux."""
    names = {f"cpu{core}" for core in allowed_cores()}
    try:
        rows = [line.split() for line in STAT.read_text().splitlines()]
        ticks = sum(int(row[4]) + int(row[5]) for row in rows if row[0] in names)  # idle, and waiting for a disk
    except (OSError, ValueError, IndexError):
        return 0.0
    return ticks / os.sysconf("SC_CLK_TCK")


def _quotas() -> Iterator[float]:
    """The processor time per second that each control group of this process allows, where it is limited."""
    for group in memory.control_groups("cpu"):
        for files in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):
            try:
                quota, period = " ".join((group / file).read_text() for file in files).split()
                if int(quota) > 0:
                    yield int(quota) / int(period)
            except (OSError, ValueError):  # no such file, or "max"
                continue
