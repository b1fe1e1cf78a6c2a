"""Commands in forked processes: the libraries are imported once, and a process can be killed at any moment."""

import atexit
import importlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from unittest import mock

from common.paths import REPOSITORY

SLOW_IMPORTS = (
    "sign.cli",
    "sign.commands.precompute",
    "sign.commands.report",
    "sign.commands.store",
    "sign.commands.train",
    "sign.datasets.custom.dataset",
    "sign.datasets.synthetic.communities",
    "sign.engines.local.engine",
    "sign.experiments.run",
    "sign.search.study",
    "sign.diffusion.export",
    "pyarrow.csv",
    "pyarrow.parquet",
    "scipy.sparse",
    "torch_geometric.data",
)
SMALL = ("dataset.nodes=300", "dataset.edges=900", "dataset.features=8", "dataset.classes=3")  # communities
HANG = 60.0  # seconds after which a process that should have ended is killed
OUTPUT = ("stdout.txt", "stderr.txt")


@dataclass(frozen=True)
class Outcome:
    """How a process ended: its exit code (negative: the signal that killed it; None: it hung) and its output."""

    code: int | None
    stdout: str
    stderr: str
    seconds: float
    result: Any = None  # of a function

    def problem(self, expect_success: bool | None = None) -> str | None:
        """Say what is wrong with a command that must succeed, or (False) print one message; None: either."""
        if self.code is None:
            return f"hung for {self.seconds:.0f} s"
        if "Traceback" in self.stderr + self.stdout or self.code not in (0, 1):
            return f"exit code {self.code}: {last_line(self.stderr) or last_line(self.stdout)}"
        if self.code == 1 and (flaw := message_flaw(self.message)):
            return f"{flaw}: {self.stderr.strip()[-300:]!r}"
        if expect_success is not None and (self.code == 0) != expect_success:
            return f"refused: {self.message}" if expect_success else "accepted"
        return None

    @property
    def message(self) -> str:
        """The lines that a command prints on standard error, without their prefix."""
        return self.stderr.strip().removeprefix("error: ")


def message_flaw(message: str, printable: bool = True) -> str | None:
    """Say what is wrong with the form of an error message: one line, of printable characters."""
    if not message:
        return "no message"
    if len(message.splitlines()) > 1:
        return "more than one line"
    return None if message.replace("\t", " ").isprintable() or not printable else "unprintable characters"


def last_line(text: str) -> str:
    """Return the last line that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def preload() -> None:
    """Import what the commands need and load the compiled loops, in a way that forked processes can use.

    A forked process has none of the threads of its parent: there is one thread per pool, and numba's pool is the one
    that a forked process starts again.
    """
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "NUMBA_THREADING_LAYER": "workqueue"}
    for name in SLOW_IMPORTS:
        importlib.import_module(name)
    import pyarrow

    from sign.config.configure import compose, configure

    pyarrow.set_cpu_count(1)
    for dataset in (["custom", f"dataset.path={REPOSITORY / 'examples' / 'graph'}"], ["communities", *SMALL]):
        with tempfile.TemporaryDirectory() as folder:
            overrides = [f"dataset={dataset[0]}", *dataset[1:], "model.p=1", "logger=csv", *paths(Path(folder))]
            configure(compose(*overrides), []).precomputation.run()


def paths(folder: Path) -> list[str]:
    """Return the overrides with which a command reads and writes below ``folder``."""
    return [f"paths.{kind}_dir={folder / kind}" for kind in ("data", "store", "output")]


def command(folder: Path, program: str, *arguments: str, **options: Any) -> Outcome:
    """Run a program of ``src/`` in ``folder``; see :func:`forked` for the options."""
    file = REPOSITORY / "src" / f"{program}.py"
    return forked(lambda: run_program(file, arguments), folder, **options)


def run_program(file: Path, arguments: Sequence[str]) -> None:
    """Do in this process what ``python file arguments`` does."""
    from sign.cli import run
    from sign.search import slots

    sys.argv = [str(file), *arguments]
    main = importlib.import_module(f"sign.commands.{file.stem}").main
    config = file.stem if (REPOSITORY / "conf" / f"{file.stem}.yaml").is_file() else "train"
    with mock.patch.object(slots, "ForkServer", DirectForks):
        run(main, config)


class DirectForks:
    """The workers of a search as a ``ForkServer`` has them, forked from this process, which has imported everything."""

    alive = True

    def __init__(self, *_: Any) -> None:
        self.pids: dict[int, int] = {}
        self.codes: dict[int, int] = {}

    def start(
        self, number: int, command: Sequence[str], variables: Mapping[str, str], folder: Path, show: bool
    ) -> None:
        """Fork a worker."""
        sys.stdout.flush()
        request = {"command": command, "variables": variables, "folder": str(folder.resolve()), "show": show}
        self.pids[number] = os.fork()
        if not self.pids[number]:
            _run_worker(request)

    def poll(self, number: int) -> int | None:
        """Return the exit code, or None while the worker is running."""
        if number not in self.codes:
            pid, status = os.waitpid(self.pids[number], os.WNOHANG)
            if pid:
                self.codes[number] = os.waitstatus_to_exitcode(status)
        return self.codes.get(number)

    def kill(self, number: int) -> None:
        """Kill a worker, whether or not it leads its group yet."""
        if self.poll(number) is None:
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    kill(self.pids[number], signal.SIGKILL)

    def close(self) -> None:
        """Kill all workers."""
        for number in self.pids:
            self.kill(number)
        while any(self.poll(number) is None for number in self.pids):
            time.sleep(0.01)


def _run_worker(request: dict[str, Any]) -> NoReturn:
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig

    from sign.search.forkserver import run_worker

    GlobalHydra.instance().clear()
    HydraConfig.instance().cfg = None
    atexit._clear()  # exit functions of the campaign, one of which removes its folder
    run_worker(request)


def forked(
    function: Callable[[], Any],
    folder: Path,
    kill_after: float | None = None,
    timeout: float = HANG,
    memory: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Call a function in a forked process and return how it ended, with its result if it can be written as JSON.

    ``kill_after`` seconds, or ``timeout``, its whole process group gets SIGKILL; ``memory`` limits its address space.
    """
    folder.mkdir(parents=True, exist_ok=True)
    output = [Path(f"{folder}.{name}") for name in OUTPUT]
    reader, writer = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if not child:
        os.close(reader)
        _run_child(function, folder, output, writer, memory, environment or {})
    os.close(writer)
    deadline = started + (timeout if kill_after is None else kill_after)
    code, content = _wait(child, reader, deadline)
    seconds = time.monotonic() - started
    if code is None and kill_after is not None:
        code = -signal.SIGKILL
    texts = [file.read_text(errors="replace") for file in output]
    return Outcome(code, *texts, seconds, json.loads(content) if content else None)


def _run_child(
    function: Callable[[], Any],
    folder: Path,
    output: list[Path],
    writer: int,
    memory: int | None,
    environment: Mapping[str, str],
) -> NoReturn:
    """Prepare the child and call the function; never returns."""

    def run() -> None:
        os.setsid()  # a process group of its own
        for stream, file in zip((1, 2), output, strict=True):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.environ.update(environment)
        tempfile.tempdir = None  # look TMPDIR up again
        os.chdir(folder)
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (_address_space() + memory, resource.RLIM_INFINITY))
        result = function()
        os.write(writer, json.dumps(result).encode() if result is not None else b"")

    _end_with(run)


def _end_with(function: Callable[[], Any]) -> NoReturn:
    """Call a function and end this process with its exit code."""
    code = 1
    try:
        function()
        code = 0
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _address_space() -> int:
    """Return the size of this process's address space in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _wait(child: int, reader: int, deadline: float) -> tuple[int | None, bytes]:
    """Wait for a child and read its result; None if it had to be killed at the deadline."""
    content, killed = b"", False
    with open(reader, "rb", buffering=0) as pipe:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                os.killpg(child, signal.SIGKILL)
                killed = True
                break
            if select.select([pipe], [], [], left)[0]:
                part = pipe.read(1 << 16)
                content += part
                if not part:  # closed: the child has ended, or is about to
                    break
    _, status = os.waitpid(child, 0)
    return None if killed else os.waitstatus_to_exitcode(status), content
