"""Exclusive locks on folders between processes. The system releases the lock of a process that ends."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCK_FILE = ".lock"


@contextmanager
def exclusive_lock(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Create a folder and hold its lock; ``on_wait`` is called if another process holds it."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOCK_FILE).open("a") as lock:
            if not _acquire(lock):
                on_wait()
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_in(folder, lock):  # else the folder was removed while we waited
                yield
                return


@contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Hold the lock of a folder if it is free; yields whether it was."""
    with (folder / LOCK_FILE).open("a") as lock:
        yield _acquire(lock)


def _acquire(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def _is_in(folder: Path, lock: IO[str]) -> bool:
    """Return whether an open lock file is the one in the folder."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (folder / LOCK_FILE).stat())
    except FileNotFoundError:
        return False
