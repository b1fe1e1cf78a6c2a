"""What a process of a sweep owes the one that started it: to end with it, and to leave its result in a file."""

import ctypes
import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sign.system.atomic_files import write_json

RESULT = "SIGN_RESULT"  # names the file; set by the parent alone
PARENT = "SIGN_PARENT"  # the process that started this one
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def answering(task: Callable[..., Any]) -> Callable[..., Any]:
    """The task; where a sweep started this process, what it returns is left in the file the sweep named."""
    file, parent = (os.environ.pop(name, None) for name in (RESULT, PARENT))  # not for what the task starts
    if file is None or parent is None:
        return task
    end_with(int(parent))

    @functools.wraps(task)
    def answered(*arguments: Any) -> Any:
        value = task(*arguments)
        write_json(Path(file), {"value": value})
        return value

    return answered


def end_with(parent: int) -> None:
    """Be killed when the parent is, so that no trial goes on after its search (on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before
            os.kill(os.getpid(), signal.SIGKILL)
