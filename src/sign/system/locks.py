"""One process at a time. The system frees the lock of a process that ends, in whatever way."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

LOCK_FILE = ".lock"


@contextmanager
def exclusive_lock(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Be the only process that adds to a folder, which is made; ``on_wait`` is called if another one is at it."""
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
    """Be the only process at a folder, if no other one is; yields whether that is so."""
    with (folder / LOCK_FILE).open("a") as lock:
        yield _acquire(lock)


def _acquire(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False


def _is_in(folder: Path, lock: IO[str]) -> bool:
    """Whether an open lock file is the one in the folder."""
    try:
        return os.path.samestat(os.fstat(lock.fileno()), (folder / LOCK_FILE).stat())
    except FileNotFoundError:
        return False
