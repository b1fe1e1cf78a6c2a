"""Workers that find the libraries imported: forks of a server process that imports them once."""

import multiprocessing
import os
import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver
from pathlib import Path

from sign.errors import SignError
from sign.search.slots import STDERR_FILE, STDOUT_FILE, Process, SlotPool
from sign.search.worker import PARENT
from sign.system.program import PACKAGE

LIBRARIES = ["sign.experiments.run"]  # imports torch, Lightning and torchmetrics, but starts no thread and no GPU


class PreloadingPool(SlotPool):
    """A pool whose workers take a fraction of a second to start instead of seconds; all pools share one server.

    Threads of torch and numba are limited when they are imported: the variables of the first worker count.
    """

    def _launch(self, command: Sequence[str], variables: dict[str, str], folder: Path, show: bool) -> Process:
        if "forkserver" not in multiprocessing.get_all_start_methods():
            raise SignError("search.preload=true: processes cannot be forked on this system; use search.preload=false")
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(LIBRARIES)
        with _environment(variables | {"PYTHONPATH": os.pathsep.join(filter(None, [str(PACKAGE.parent), *sys.path]))}):
            forkserver.ensure_running()
        process = context.Process(target=_run_program, args=(list(command), variables, folder))
        process.start()
        return PreloadedProcess(process)


class PreloadedProcess:
    """A fork with the interface of :class:`subprocess.Popen`."""

    def __init__(self, process: "multiprocessing.context.ForkServerProcess") -> None:
        self.process = process

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid or 0

    def poll(self) -> int | None:
        """Return the exit code, or None while the process is running."""
        return self.process.exitcode

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        self.process.join()
        return self.process.exitcode or 0

    def kill(self) -> None:
        """Kill the process, which may not lead its group yet."""
        self.process.kill()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _run_program(command: list[str], variables: dict[str, str], folder: Path) -> None:
    """Run a Python program in this process, with the environment, the output and the group of a worker."""
    os.setsid()
    os.environ.clear()
    os.environ.update(variables | {PARENT: str(os.getppid())})  # the server, which exits with the search
    for name, descriptor in ((STDOUT_FILE, 1), (STDERR_FILE, 2)):
        with (folder / name).open("wb") as file:
            os.dup2(file.fileno(), descriptor)
    sys.argv = command[1:]
    runpy.run_path(command[1], run_name="__main__")
