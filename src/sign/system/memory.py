"""Memory of the machine and its control groups, and the memory budget of this process."""

import math
import mmap
import os
import re
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
SHARES_VARIABLE = "SIGN_SHARED_BY"  # environment variable: the number of processes that share the machine
DEFAULT_FRACTION = 0.7  # of the available memory, for a process without an explicit budget
ARRAYS_FRACTION = 0.5  # of the budget, for arrays of `sign.system.arrays.empty`; the rest is for features
UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass
class Budget:
    """Resident bytes allowed in total and for arrays, bytes of arrays, and the folder for temporary files."""

    total: int
    scratch: Path
    arrays: int
    allocated: int = 0

    def free(self, size: int) -> None:
        """Account for an array that was deleted."""
        self.allocated -= size


budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limit(total: int, scratch: Path) -> Iterator[None]:
    """Limit arrays of :func:`sign.system.arrays.empty` to ``total`` resident bytes; files are in ``scratch``."""
    token = budget.set(Budget(total, scratch, int(ARRAYS_FRACTION * max(total - resident(), 0))))
    try:
        yield
    finally:
        budget.reset(token)


def remaining() -> int:
    """Return the bytes of the budget, or of the default budget, that are not resident now."""
    current = budget.get()
    return (default_budget() if current is None else current.total) - resident()


def scratch_folder() -> Path | None:
    """Return the folder for temporary files of the current budget, if there is one."""
    current = budget.get()
    return None if current is None else current.scratch


def default_budget() -> int:
    """Return the budget of a process without an explicit one, in bytes."""
    return resident() + int(DEFAULT_FRACTION * available())


def available() -> float:
    """Return the bytes that this process may still allocate: an equal share for each process."""
    total = min([_available_on_machine(), *(_available_in(group) for group in control_groups())])
    return total / sharing_processes()


def sharing_processes() -> int:
    """The number of processes of a search or sweep, this one included, that share the machine."""
    return max(1, int(os.environ.get(SHARES_VARIABLE, "1")))


def control_groups(controller: str = "memory") -> Iterator[Path]:
    """Control groups of this process, from its own to the root; version 2, then version 1."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for base, pattern in ((CGROUP, r"0::(.*)"), (CGROUP / controller, rf"\d+:(?:.*,)?{controller}(?:,.*)?:(.*)")):
        path = next((match[1] for line in lines if (match := re.fullmatch(pattern, line))), "/")
        inner = base / path.lstrip("/")
        yield from (group for group in (inner, *inner.parents) if group.is_relative_to(base))


def _available_in(group: Path) -> float:
    """Return the unused bytes of a control group, including its reclaimable file cache."""
    for limit, usage in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        allowed, used = _read_integer(group / limit), _read_integer(group / usage)
        if allowed is not None and used is not None and allowed < 1 << 60:  # "max" or a huge number: no limit
            return max(allowed - used + _file_cache(group), 0)
    return math.inf


def _file_cache(group: Path) -> int:
    try:
        lines = (group / "memory.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, KeyError, ValueError):
        return 0


def resident() -> int:
    """Return the current resident size of this process, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:  # not Linux
        return peak()


def peak() -> int:
    """Return the peak resident size of this process since its start, mapped pages of files included, in bytes."""
    try:  # ru_maxrss would include the parent process before exec
        return int(_fields("/proc/self/status")["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def parse_size(text: str) -> int | None:
    """Return the bytes of a size such as ``4GB`` or ``500 MB``, or None if it is malformed."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMGT]B|)\s*", text)
    return int(float(match[1]) * UNITS[match[2]]) if match else None


def format_size(size: float) -> str:
    """Format bytes for people: ``format_size(1536000)`` is ``1.5 MB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _available_on_machine() -> int:
    try:
        return int(_fields("/proc/meminfo")["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # not Linux: half of the physical memory is a conservative guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _fields(file: str) -> dict[str, str]:
    lines = Path(file).read_text().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _read_integer(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
