"""One progress bar for all hops of a run, which engines advance product by product.

The bar is in a context variable, so that neither operators nor engines pass it on; without a bar, nothing happens.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.progress import Progress, TaskID

from sign.system.console import progress

_bar: ContextVar[tuple[Progress, TaskID] | None] = ContextVar("bar", default=None)


@contextmanager
def progress_bar(name: str, total: int) -> Iterator[None]:
    """Show a bar over ``total`` hops."""
    with progress() as bar:
        token = _bar.set((bar, bar.add_task(name, total=total)))
        try:
            yield
        finally:
            _bar.reset(token)


def advance(hops: float) -> None:
    """Move the bar by a part of a hop, before the hop is complete."""
    if shown := _bar.get():
        bar, task = shown
        bar.update(task, advance=hops)


def reach(hops: int, description: str) -> None:
    """Move the bar to at least ``hops`` complete hops, and say what is computed next."""
    if shown := _bar.get():
        bar, task = shown
        bar.update(task, completed=max(bar.tasks[0].completed, hops), description=description)
