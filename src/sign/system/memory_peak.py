"""The peak memory that a process needs: what the system cannot drop, unlike mapped pages of files.

Linux records the peak of the resident size, which includes the pages of memory-mapped files that happen to be in
memory: on a machine with much memory all that were ever read. A thread therefore samples both parts.
"""

import mmap
import threading
from pathlib import Path

from sign.system import memory

INTERVAL = 0.02  # seconds between samples: memory of a few MB that is needed for a shorter time may be missed
STATM = Path("/proc/self/statm")


class _Peak(threading.Thread):
    """The largest anonymous memory and the largest mapped pages of this process since its start."""

    def __init__(self) -> None:
        super().__init__(name="memory-peak", daemon=True)
        self.needed = self.mapped = 0
        self.stopped = threading.Event()

    def run(self) -> None:
        while not self.stopped.wait(INTERVAL):
            self.sample()

    def sample(self) -> None:
        try:
            resident, mapped = (int(pages) * mmap.PAGESIZE for pages in STATM.read_text().split()[1:3])
        except OSError:  # not Linux
            resident, mapped = memory.peak(), 0
        self.needed, self.mapped = max(self.needed, resident - mapped), max(self.mapped, mapped)


_peak: _Peak | None = None


def watch() -> None:
    """Measure from now on."""
    global _peak
    if _peak is not None:
        _peak.stopped.set()
    _peak = _Peak()
    _peak.sample()
    _peak.start()


def metrics() -> dict[str, int]:
    """Return the peaks since :func:`watch`, or now if it was not called, under the names of a run's metrics."""
    peak = _peak or _Peak()
    peak.sample()
    return {"memory/peak_bytes": peak.needed, "memory/mapped_bytes": peak.mapped}
