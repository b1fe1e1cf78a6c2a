"""The plan of a diffusion, and how it is cut: by the size of the graph and of the executors alone."""

import math
from dataclasses import dataclass
from typing import Literal

from sign.engines.base import Diffusion
from sign.errors import SignError
from sign.system import arrays, memory

HELD = 0.5  # of the executors' memory that arrays of a plan may take; the rest is for records on their way
RANGES = 2  # for each task that runs at once, so that all have something to do until the end
ARRAYS, STATE = 2, 5  # of one range that a task holds for a product alone, and for a polynomial


@dataclass(frozen=True)
class Executors:
    """Bytes that the Python processes of an executor may take, and tasks that run at once, in all and in one."""

    memory: int
    slots: int
    at_once: int

    def ranges(self, size: int) -> int:
        """Return the number of ranges of nodes with which concurrent tasks hold their parts of ``size`` bytes."""
        fitting = math.ceil(2 * size * self.at_once / (HELD * self.memory))  # a range is up to two even shares
        return max(fitting, RANGES * self.slots)


@dataclass(frozen=True)
class Plan:
    """*columns* in tasks of ``width`` columns, or *blocks* of ``ranges`` squared with ``width`` columns at a time."""

    name: Literal["columns", "blocks"]
    width: int
    ranges: int
    why: str

    def __str__(self) -> str:
        if self.name == "columns":
            return f"plan columns ({self.why}), {self.width} columns per task"
        blocks = f"{self.ranges} × {self.ranges} blocks"
        return f"plan blocks ({self.why}), {blocks}, {self.width} columns at a time"


def choose(diffusion: Diffusion, executors: Executors, plan: str, ranges: int | None, width: int | None) -> Plan:
    """Return the requested plan, or for ``auto`` the one that fits."""
    csr, has = diffusion.matrix.csr, f"an executor's {memory.format_size(executors.memory)}"
    parts = (csr.indptr, csr.indices, csr.weights, diffusion.matrix.left, diffusion.matrix.right)
    graph = sum(array.nbytes for array in parts if array is not None)
    column = 4 * csr.nodes * diffusion.operator.buffers * executors.at_once
    widest = int(HELD * (executors.memory - graph)) // column
    fewest = arrays.CACHE_LINE if plan == "auto" else 1  # fewer than a cache line are slow
    least = min(diffusion.columns, fewest)
    size = f"the graph's {memory.format_size(graph)}"
    more = f"{size} and {memory.format_size(least * column)} for {least} columns per task"
    if plan != "blocks" and widest >= least:
        even = max(math.ceil(diffusion.columns / executors.slots), arrays.CACHE_LINE)
        return Plan("columns", min(widest, even, diffusion.columns), 0, f"{size} fit {has}")
    if plan == "columns":
        raise SignError(f"engine.plan=columns: {more} do not fit {has}; use engine.plan=blocks")
    width = min(width or diffusion.columns, diffusion.columns)
    held = ARRAYS if diffusion.operator.is_one_product else STATE
    ranges = ranges or executors.ranges(4 * csr.nodes * (width + 1) * held)
    return Plan("blocks", width, ranges, "as requested" if plan == "blocks" else f"{more} do not fit {has}")
