"""How much memory there is: what the machine has left, within the limits of its control group."""

import os
import resource
import sys
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def available() -> int:
    """Bytes that this process may still take."""
    left = [_machine()]
    # Version 2 of control groups, then version 1; a limit of "max" or of 2**60 and more is none.
    for limit, usage in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        allowed, used = _number(CGROUP / limit), _number(CGROUP / usage)
        if allowed is not None and used is not None and allowed < 1 << 60:
            left.append(max(allowed - used, 0))
    return min(left)


def peak() -> int:
    """The largest resident size of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def readable(size: float) -> str:
    """A size for people: ``readable(1536000)`` is ``1.5 MB``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 999.5 or unit == "TB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # not Linux: half of what is built in is a careful guess
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
