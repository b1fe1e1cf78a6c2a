"""The terminal: one console, log records as plain lines, and progress bars."""

import logging

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

console = Console(highlight=False)
log = logging.getLogger("sign")


class ConsoleHandler(logging.Handler):
    """Print the message of each record as a plain line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        console.print(self.format(record), markup=False, soft_wrap=True)


def show_log() -> None:
    """Print INFO records of the logger ``sign`` on the console; called by the commands only."""
    if not log.handlers:
        log.addHandler(ConsoleHandler())
    log.setLevel(logging.INFO)


def progress() -> Progress:
    """Return a progress bar, which is hidden unless the console is a terminal that shows the log."""
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
