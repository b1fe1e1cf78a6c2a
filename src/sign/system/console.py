"""The terminal: one console, log records as plain lines, and progress bars; without a terminal, progress lines."""

import logging
import re
import sys
import time
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

from sign.system.text_files import visible

LINE_SECONDS = 10.0  # between two progress lines, at least
log = logging.getLogger("sign")


def printable(text: str) -> str:
    r"""Return a text whose control characters, other than line breaks and tabs, are visible escapes.

    Names and paths come from users and from run folders of others: printed as they are, they could move the cursor,
    rename the window or reorder what is read.

    >>> print(printable("\x1b[31mred\u202e"))
    \x1b[31mred\u202e
    """
    return "".join(part if part in ("\n", "\t") else visible(part) for part in re.split(r"([\n\t])", text))


class PlainConsole(Console):
    """A console that shows every string as text: no markup, no emoji codes, no control characters.

    Styles are those of columns and of :class:`rich.text.Text`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a string; Rich calls it for all that are printed, also in cells and titles of tables."""
        return super().render_str(printable(text), **options)


console = PlainConsole()


def detect_output() -> None:
    """Look again what the output is (a terminal, its colours), after it has been redirected."""
    PlainConsole.__init__(console)


def print_to_stderr(message: str) -> None:
    """Print the last message of a process that fails."""
    print(printable(message), file=sys.stderr, flush=True)


class ConsoleHandler(logging.Handler):
    """Print the message of each record as a plain line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        console.print(self.format(record), soft_wrap=True)


def show_log() -> None:
    """Print INFO records of the logger ``sign`` on the console; called by the commands only."""
    if not log.handlers:
        log.addHandler(ConsoleHandler())
    log.setLevel(logging.INFO)


def progress() -> Progress:
    """Return a progress bar, which is hidden unless the console is a terminal that shows the log."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=16),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (console.is_terminal and log.isEnabledFor(logging.INFO)),
    )


class ProgressLines:
    """What replaces a progress bar where the output is no terminal, such as a file or the log of SLURM.

    The caller asks after every step whether a line is due, and logs one with the time that is left. ``skipped`` is
    the part of ``total`` that takes no time: epochs before a run was resumed, hops that the store has.
    """

    def __init__(self, total: float, skipped: float = 0.0) -> None:
        self.total, self.skipped = total, skipped
        self.started = self.logged = time.monotonic()

    def due(self) -> bool:
        """Whether ``LINE_SECONDS`` have passed since the last line; if so, the next one is due as long after this."""
        now = time.monotonic()
        if console.is_terminal or now - self.logged < LINE_SECONDS:
            return False
        self.logged = now
        return True

    def left(self, completed: float) -> str:
        """The time that is left at the pace since the start, such as 0:01:30."""
        if completed <= self.skipped:
            return "an unknown time"
        pace = (time.monotonic() - self.started) / (completed - self.skipped)
        return str(timedelta(seconds=round(pace * max(self.total - completed, 0.0))))
