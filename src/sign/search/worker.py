"""Worker side of a sweep: exit with the parent, write the result to a file."""

import ctypes
import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sign.system.atomic_files import write_json

RESULT = "SIGN_RESULT"  # environment variable: the file to write
PARENT = "SIGN_PARENT"  # environment variable: the process that started this one
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def as_worker(task: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``task`` so that its return value is written to the file that the parent named.

    Returns ``task`` itself where no sweep started this process.
    """
    file, parent = (os.environ.pop(name, None) for name in (RESULT, PARENT))  # not for processes of the task
    if file is None or parent is None:
        return task
    exit_with_parent(int(parent))

    @functools.wraps(task)
    def with_result(*arguments: Any) -> Any:
        value = task(*arguments)
        write_json(Path(file), {"value": value})
        return value

    return with_result


def exit_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent dies, so that no trial outlives its search (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the call
            os.kill(os.getpid(), signal.SIGKILL)
