"""Where the rows of a run are held, and how training rows are shuffled: the values that ``auto`` stands for."""

import logging
from dataclasses import dataclass
from typing import Literal

from sign.errors import FieldError
from sign.system import memory
from sign.training.settings import Training

MEMORY_FRACTION = 0.5  # of the available memory that rows may take before they stay on disk
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Placement:
    """``rows`` are held on a GPU, in memory or on disk; ``shuffle`` takes single rows or chunks."""

    rows: Literal["device", "memory", "disk"] = "memory"
    shuffle: Literal["rows", "chunks"] = "rows"


@dataclass(frozen=True)
class Room:
    """The bytes of float32 rows that may be in memory, and on the GPU; None where training runs on the CPU."""

    memory: int
    device: int | None = None

    @classmethod
    def of(cls, budget: str | None, ranks: int = 1, device: float | None = None) -> "Room":
        """The room within ``engine.memory``, or else on this machine, which ``ranks`` processes share.

        ``device`` is the free memory of the GPU, in bytes of float32 rows.
        """
        available = memory.available() / ranks
        if budget is not None:
            available = min(available, (memory.parse_size(budget) or 0) - memory.resident())
        return cls(max(0, int(MEMORY_FRACTION * available)), None if device is None else int(MEMORY_FRACTION * device))


def place(training: Training, size: int, room: Room) -> Placement:
    """Decide where ``size`` bytes of rows are held, unless ``training.rows`` and ``training.shuffle`` say so.

    Raises
    ------
    FieldError
        If the two settings contradict each other, or rows that were to be in memory do not fit.
    """
    rows, shuffle = training.rows, training.shuffle
    fits = size <= room.memory
    sizes = f"{memory.format_size(size)} of rows, and there is room for {memory.format_size(room.memory)}"
    if rows == "device" and room.device is None:
        raise FieldError("training.rows", rows, "training does not run on a CUDA GPU; use auto")
    if rows == "memory" and not fits:
        raise FieldError("training.rows", rows, f"{sizes}; use auto or disk, or raise engine.memory")
    if rows == "disk" and shuffle == "rows":
        raise FieldError("training.shuffle", shuffle, "rows on disk are shuffled by chunks; use auto or chunks")
    if rows == "auto":
        on_device = room.device is not None and size <= room.device
        rows = "device" if on_device else "memory" if fits else "disk"
        if rows == "disk" and shuffle == "rows":
            raise FieldError("training.shuffle", shuffle, f"{sizes}; use auto or chunks")
    if shuffle == "auto":
        shuffle = "chunks" if rows == "disk" else "rows"
    if rows != "memory":
        log.info("%s in memory: training.rows=%s training.shuffle=%s", sizes, rows, shuffle)
    return Placement(rows, shuffle)
