"""A process that imports the libraries once and forks workers, each of which runs a program of its own.

A worker starts with nothing but imported modules: no configuration, no random state in use, no thread of a parallel
loop, no GPU. It ends like any process, so its memory is returned, and neither a crash nor a kill reaches the others.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from sign.search.worker import PARENT, exit_with_parent
from sign.system import threads
from sign.system.console import detect_output
from sign.system.program import PACKAGE

# Not wandb: the folder for temporary files that it creates when imported would be removed by the first worker to exit.
LIBRARIES = ("sign.cli", "sign.commands.train", "sign.experiments.run", "sign.graph.build_kernels", "numba")
STDOUT_FILE, STDERR_FILE = "stdout.txt", "stderr.txt"
REAP_SECONDS = 0.02  # between looks for workers that have exited
CONTROL = 0  # file descriptor of the server: requests in, exit codes out


class ForkServer:
    """The side of the process that asks for workers, which it names by numbers.

    Parameters
    ----------
    libraries
        Modules to import before the first worker is forked; threads are configured after the first.
    variables
        The environment in which they are imported, such as the number of threads.
    ranks
        Ranks of a run on this machine, which share its threads.
    """

    def __init__(self, libraries: Sequence[str], variables: Mapping[str, str], ranks: int) -> None:
        self.socket, control = socket.socketpair()
        source = f"import sys; sys.path[0] = {str(PACKAGE.parent)!r}; from sign.search.forkserver import serve; "
        with control:
            self.process = subprocess.Popen(
                [sys.executable, "-c", f"{source}serve({list(libraries)}, {ranks})"],
                stdin=control.fileno(),
                env={**variables, PARENT: str(os.getpid())},
                start_new_session=True,  # Ctrl-C reaches this process only, which then kills its workers
            )
        self.socket.setblocking(False)
        self.reports = b""
        self.codes: dict[int, int] = {}  # of workers that have exited

    def start(
        self, number: int, command: Sequence[str], variables: Mapping[str, str], folder: Path, show: bool
    ) -> None:
        """Run a Python program, a file and its arguments; its output goes to files in ``folder``, which exist.

        Standard output goes to the terminal if ``show``.
        """
        self._send(number=number, command=command, variables=variables, folder=str(folder.resolve()), show=show)

    def kill(self, number: int) -> None:
        """Kill a worker and its children, unless it has exited."""
        self._send(number=number)

    def poll(self, number: int) -> int | None:
        """Return the exit code of a worker (negative: the signal that killed it), or None while it is running."""
        alive = self.alive  # looked up before the reports are read, which may be the last ones
        with suppress(BlockingIOError, ConnectionResetError):
            while part := self.socket.recv(1 << 16):
                self.reports += part
        *lines, self.reports = self.reports.split(b"\n")
        self.codes.update(json.loads(line) for line in lines)
        return self.codes.get(number, None if alive else -signal.SIGKILL)

    def close(self) -> None:
        """Kill all workers, and end."""
        self.socket.close()
        self.process.wait()

    @property
    def alive(self) -> bool:
        """Whether the process is running; its workers die with it."""
        return self.process.poll() is None

    def _send(self, **request: Any) -> None:
        self.socket.setblocking(True)
        with suppress(BrokenPipeError, ConnectionResetError):  # it was killed: `alive` tells
            self.socket.sendall(json.dumps(request).encode() + b"\n")
        self.socket.setblocking(False)


def serve(libraries: Sequence[str], ranks: int) -> NoReturn:
    """Fork a worker for each request, until the other side has ended."""
    load = threads.Load()
    exit_with_parent(int(os.environ.pop(PARENT)))
    for number, name in enumerate(libraries):
        importlib.import_module(name)
        if number == 0:  # the command line, which imports none of those that read the variables
            threads.configure(load, ranks)
    if "numba" in sys.modules:
        from sign.system.jit import load_registries

        load_registries()  # once, instead of 0.3 s in each worker
    gc.collect()
    gc.freeze()  # a collection in a worker would copy the pages of all these objects
    running: dict[int, int] = {}  # process ids, and the numbers of the workers
    requests = b""
    while True:
        if select.select([CONTROL], [], [], REAP_SECONDS)[0]:
            part = os.read(CONTROL, 1 << 16)
            if not part:
                for pid in running:
                    os.killpg(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                os._exit(0)
            *lines, requests = (requests + part).split(b"\n")
            for request in map(json.loads, lines):
                if "command" not in request:
                    for pid in [pid for pid, number in running.items() if number == request["number"]]:
                        os.killpg(pid, signal.SIGKILL)
                elif pid := os.fork():
                    with suppress(PermissionError, ProcessLookupError):  # the worker has done it
                        os.setpgid(pid, pid)
                    running[pid] = request["number"]
                else:
                    run_worker(request)
        while running and (ended := os.waitpid(-1, os.WNOHANG))[0]:
            number, code = running.pop(ended[0]), os.waitstatus_to_exitcode(ended[1])
            os.write(CONTROL, f"[{number}, {code}]\n".encode())


def run_worker(request: dict[str, Any]) -> NoReturn:
    """Do in this forked process what ``python file arguments`` does, in a process group of its own."""
    code: Any = 1
    try:
        _become_worker(request)
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            os.write(2, f"{code}\n".encode())  # as the interpreter does
            code = 1
    except BaseException:
        traceback.print_exc()
    finally:  # without the end of the interpreter, which would delete every object of the libraries
        try:
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _become_worker(request: dict[str, Any]) -> None:
    """Set up process group, output, environment and arguments."""
    server, folder = os.getppid(), Path(request["folder"])
    os.setpgid(0, 0)
    for name, descriptor in ((os.devnull, 0), (STDOUT_FILE, 1), (STDERR_FILE, 2)):
        if descriptor != 1 or not request["show"]:
            file = os.open(folder / name, os.O_RDWR)
            os.dup2(file, descriptor)
            os.close(file)
    detect_output()
    read_by_libraries = {name: value for name, value in os.environ.items() if name in threads.VARIABLES}
    os.environ.clear()
    os.environ.update(request["variables"] | read_by_libraries | {PARENT: str(server)})
    sys.argv = request["command"]
    sys.path[0] = str(Path(sys.argv[0]).parent)
