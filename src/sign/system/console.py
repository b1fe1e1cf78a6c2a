"""The terminal: one console, log messages as plain lines, and the look of every progress bar."""

import logging

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

console = Console(highlight=False)
log = logging.getLogger("sign")


class ConsoleHandler(logging.Handler):
    """Print the message of each record as a plain line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        console.print(self.format(record), markup=False, soft_wrap=True)


def show_log() -> None:
    """Show the log of the package on the console; commands call it, a library's user need not."""
    if not log.handlers:
        log.addHandler(ConsoleHandler())
    log.setLevel(logging.INFO)


def progress() -> Progress:
    """A progress bar on a terminal that shows the log; otherwise one that shows nothing."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (console.is_terminal and log.isEnabledFor(logging.INFO)),
    )
