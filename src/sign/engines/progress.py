"""One progress bar for all hops of a run, which engines advance product by product; without a terminal, log lines.

It is in a context variable, so that neither operators nor engines pass it on; without one, nothing happens.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from rich.progress import Progress, TaskID

from sign.system.console import ProgressLines, progress

HOPS = TaskID(0)

log = logging.getLogger(__name__)


@dataclass
class HopProgress:
    """The bar over all hops, and the lines that replace it."""

    bar: Progress
    lines: ProgressLines
    unit: str = "hops"

    def log(self) -> None:
        """Log a line if one is due."""
        if self.lines.due():
            task = self.bar.tasks[HOPS]
            digits = 1 if self.unit == "hops" else 0
            text = f"{task.description}: {task.completed:,.{digits}f} of {task.total:,.0f} {self.unit}"
            log.info("%s, %s left", text, self.lines.left(task.completed))


_current: ContextVar[HopProgress | None] = ContextVar("progress", default=None)


@contextmanager
def progress_bar(name: str, total: int, unit: str = "hops") -> Iterator[None]:
    """Show a bar over ``total`` hops, or other units."""
    with progress() as bar:
        bar.add_task(name, total=total)
        token = _current.set(HopProgress(bar, ProgressLines(total), unit))
        try:
            yield
        finally:
            _current.reset(token)


def advance(hops: float) -> None:
    """Move the bar by a part of a hop, before the hop is complete."""
    if current := _current.get():
        current.bar.update(HOPS, advance=hops)
        current.log()


def reach(hops: int, description: str, found: int = 0) -> None:
    """Move the bar to at least ``hops`` complete hops, ``found`` more of them in the store, and say what is next."""
    if current := _current.get():
        current.lines.skipped += found
        completed = max(current.bar.tasks[HOPS].completed, hops)
        current.bar.update(HOPS, completed=completed, description=description)
        current.log()
