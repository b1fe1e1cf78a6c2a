"""Worker side of a sweep: exit with the parent, write the result to a file, tell a full disk from a failed trial."""

import ctypes
import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.system.atomic_files import is_disk_full, write_json

RESULT = "SIGN_RESULT"  # environment variable: the file to write
PARENT = "SIGN_PARENT"  # environment variable: the process that started this one
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class DiskFull(SignError):
    """A full disk, of which the search learns by the exit code of its worker: a file could not be written."""

    exit_code = os.EX_IOERR


def exit_with_parent(parent: int) -> None:
    """Let the kernel kill this process with its parent: no trial outlives its search. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the call
            os.kill(os.getpid(), signal.SIGKILL)


def as_worker(main: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``main`` itself, or, if a sweep started this process, so that it writes its result for the parent."""
    file, parent = (os.environ.pop(name, None) for name in (RESULT, PARENT))  # not for processes that it starts
    if file is None or parent is None:
        return main
    exit_with_parent(int(parent))

    @functools.wraps(main)
    def with_result(*arguments: Any) -> Any:
        try:
            value = main(*arguments)
            write_json(Path(file), {"value": value})
        except Exception as error:
            if not is_disk_full(error):
                raise
            raise DiskFull(str(error)) from error
        return value

    return with_result
