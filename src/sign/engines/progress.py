"""One progress bar for all hops of a run, which engines advance product by product.

The bar is in a context variable, so that neither operators nor engines pass it on; without a bar, nothing happens.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rich.progress import Progress, TaskID

from sign.system.console import progress

_bar: ContextVar[Progress | None] = ContextVar("bar", default=None)
HOPS = TaskID(0)


@contextmanager
def progress_bar(name: str, total: int) -> Iterator[None]:
    """Show a bar over ``total`` hops."""
    with progress() as bar:
        bar.add_task(name, total=total)
        token = _bar.set(bar)
        try:
            yield
        finally:
            _bar.reset(token)


def advance(hops: float) -> None:
    """Move the bar by a part of a hop, before the hop is complete."""
    if bar := _bar.get():
        bar.update(HOPS, advance=hops)


def reach(hops: int, description: str) -> None:
    """Move the bar to at least ``hops`` complete hops, and say what is computed next."""
    if bar := _bar.get():
        bar.update(HOPS, completed=max(bar.tasks[HOPS].completed, hops), description=description)
