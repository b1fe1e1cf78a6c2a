"""How much memory the machine and its control group have, and the budget of this process."""

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
SHARES_VARIABLE = "SIGN_SHARED_BY"  # in how many parts the memory is divided, one of them for this process
DEFAULT_FRACTION = 0.7  # of what is available that a process takes unless told otherwise
ARRAYS_FRACTION = 0.5  # of the budget that arrays of `empty` may take; the rest is for features
UNITS = {"": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass
class Budget:
    """Bytes that may be resident, the folder for what has no room, and what arrays have taken."""

    total: int
    scratch: Path
    arrays: int
    taken: int = 0

    def give_back(self, size: int) -> None:
        """An array is gone."""
        self.taken -= size


budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limit(total: int, scratch: Path) -> Iterator[None]:
    """Keep the arrays of :func:`empty` within ``total`` resident bytes; files go to ``scratch``."""
    before = budget.set(Budget(total, scratch, int(ARRAYS_FRACTION * max(total - resident(), 0))))
    try:
        yield
    finally:
        budget.reset(before)


def remaining() -> int:
    """Bytes of the budget that are not resident now; without a budget, of the default one."""
    current = budget.get()
    return (default_budget() if current is None else current.total) - resident()


def scratch_folder() -> Path | None:
    """The folder for what has no room, where there is a budget."""
    current = budget.get()
    return None if current is None else current.scratch


def default_budget() -> int:
    """The budget of a process that was given none."""
    return resident() + int(DEFAULT_FRACTION * available())


def available() -> float:
    """Bytes that this process may still take; those that run beside it are to take as much."""
    left = min([_machine(), *(_left_in(group) for group in _groups())])
    return left / max(1, int(os.environ.get(SHARES_VARIABLE, "1")))


def _groups() -> Iterator[Path]:
    """The control groups of this process, from its own up to the root; version 2, then version 1."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for base, mark in ((CGROUP, "0::"), (CGROUP / "memory", ":memory:")):
        own = next((line.partition(mark)[2] for line in lines if mark in line), "/")
        inner = base / own.lstrip("/")
        yield inner
        yield from (parent for parent in inner.parents if parent == base or base in parent.parents)
        if inner != base:
            yield base


def _left_in(group: Path) -> float:
    """Bytes that a control group has left; what it only caches of files can be had back."""
    for limit, usage in (
        ("memory.max", "memory.current"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        allowed, used = _number(group / limit), _number(group / usage)
        if (
            allowed is not None and used is not None and allowed < 1 << 60
        ):  # "max", or a number so large, is none
            return max(allowed - used + _cached(group), 0)
    return math.inf


def _cached(group: Path) -> int:
    try:
        lines = (group / "memory.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["inactive_file"])
    except (OSError, KeyError, ValueError):
        return 0


def resident() -> int:
    """The resident size of this process now, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except OSError:  # not Linux
        return peak()


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    try:  # ru_maxrss would count what the process that started this one had
        return int(_fields("/proc/self/status")["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def parse_size(text: str) -> int | None:
    """Bytes of a size such as ``4GB`` or ``500 MB``; None where it is not one."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kMGT]B|)\s*", text)
    return int(float(found[1]) * UNITS[found[2]]) if found else None


def format_size(size: float) -> str:
    """A size for people: ``format_size(1536000)`` is ``1.5 MB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _machine() -> int:
    try:
        return int(_fields("/proc/meminfo")["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # not Linux: half of what is built in is a careful guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _fields(file: str) -> dict[str, str]:
    lines = Path(file).read_text().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
