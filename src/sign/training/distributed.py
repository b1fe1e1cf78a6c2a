"""Distributed training: launch or join the ranks, broadcast from rank 0, end together.

Every rank runs the same program; rank 0 writes and prints. Lightning's launcher (which runs the same command again),
torchrun or SLURM launch the ranks. If one fails or gets a signal, all of them end within seconds and one reports it.
"""

import gc
import logging
import os
import select
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any, NoReturn, TypeVar

from sign.errors import SignError, reason
from sign.system.console import console, print_to_stderr
from sign.training.ranks import LAUNCHER, Rank, relaunched, slurm, this_rank, torchrun
from sign.training.settings import Device

T = TypeVar("T")
FOREVER = timedelta(days=365)  # rank 0 may compute hops, or wait for a lock, while the others wait for it
UNWIND = 7.0  # seconds that rank 0 has to end cleanly after a signal or the end of another rank
GRACE = 2.0  # seconds that the other ranks leave to rank 0 to report a failure
GONE = "another rank ended unexpectedly"


def rank() -> int:
    """The rank of this process in the process group; 0 without one."""
    return _group.rank if _group else 0


def world_size() -> int:
    """The number of ranks of the process group; 1 without one."""
    return _group.world_size if _group else 1


def current_rank(device: Device) -> Rank:
    """The rank of this process: in the process group, or before it exists."""
    return _group.own if _group else this_rank(device)


def broadcast(value: T) -> T:
    """The ``value`` of rank 0, on every rank."""
    if _group is None:
        return value
    from torch import distributed

    distributed.broadcast_object_list(values := [value], src=0, group=_group.control)
    return values[0]


def gather(value: T) -> list[T]:
    """The values of all ranks, in their order."""
    if _group is None:
        return [value]
    from torch import distributed

    values: list[Any] = [None] * _group.world_size
    distributed.all_gather_object(values, value, group=_group.control)
    return values


@contextmanager
def rank_zero_first() -> Iterator[None]:
    """Let rank 0 leave the block before the other ranks enter it."""
    if rank():
        broadcast(None)
    yield
    if not rank():
        broadcast(None)


def on_failure(hint: str) -> None:
    """Set the ``hint`` how to resume that ends the report of a failure or an interruption."""
    global _hint
    _hint = hint


@contextmanager
def process_group(device: Device) -> Iterator[None]:
    """Launch or join the ranks that ``device`` asks for, and end them together.

    A program enters it once, around everything that trains. SIGTERM is handled like Ctrl-C. Rank 0 raises
    KeyboardInterrupt after an interruption and SignError after the end of another rank, both with the hint of
    :func:`on_failure`; the other ranks exit with code 1.
    """
    global _group
    group = _Group(device)
    on_failure("run the same command again")
    try:
        if group.world_size > 1:
            group.join(device)
            _group = group
        yield
        group.done.set()  # whatever ends from here on is not a failure
        broadcast(None)
    except BaseException as error:
        group.fail(error)
    finally:
        _group = None
        group.close()


class _Group:
    """The ranks of a program: their process group, the processes launched here, and a thread that watches them.

    A main thread that is blocked in a collective does not run signal handlers, hence the thread. ``token`` is a file
    that rank 0 creates: the rank that removes it reports the failure.
    """

    def __init__(self, device: Device) -> None:
        self.own = this_rank(device)
        self.rank, self.world_size = self.own.rank, self.own.world_size
        self.control: Any = None  # a gloo group whose collectives may wait for long
        self.children: list[Popen[bytes]] = []
        self.token = Path()
        self.signal = 0
        self.done = threading.Event()
        self.handlers: dict[int, Any] = {}
        self._handle_signals()

    def _handle_signals(self) -> None:
        """Turn the first SIGINT or SIGTERM into KeyboardInterrupt on rank 0."""

        def interrupt(number: int, _: Any) -> None:
            if not self.signal:
                self.signal = number
                if not self.rank:  # the watching thread ends the others
                    raise KeyboardInterrupt

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self.handlers[number] = signal.signal(number, interrupt)

    def join(self, device: Device) -> None:
        """Launch the other ranks, unless a launcher did, and connect to them."""
        from lightning_fabric import Fabric
        from lightning_fabric.plugins.environments.lightning import LightningEnvironment
        from lightning_fabric.strategies.ddp import DDPStrategy
        from torch import distributed

        from sign.training.callbacks import silence_lightning

        silence_lightning()
        if self.rank:
            console.quiet = True
            logging.getLogger("sign").setLevel(logging.ERROR)
        self._set_environment()
        self.token = Path(tempfile.gettempdir(), f"sign-{os.environ['MASTER_PORT']}")
        if not self.rank:
            self.token.touch()
        strategy: Any = Fabric(
            accelerator=device.accelerator,
            devices=self.own.devices,
            num_nodes=self.own.nodes,
            strategy=DDPStrategy(cluster_environment=LightningEnvironment()),
        ).strategy
        strategy.launcher.launch(lambda: None)
        self.children = list(strategy.launcher.procs)
        strategy.launcher.procs.clear()  # Lightning's observer would kill rank 0 without a message
        self._watch()
        strategy.setup_environment()
        self.control = distributed.new_group(backend="gloo", timeout=FOREVER)

    def _set_environment(self) -> None:
        """Set what Lightning reads; torchrun, and rank 0 for the ranks that it launches, have set it."""
        from lightning_fabric.plugins.environments.lightning import find_free_network_port
        from lightning_fabric.plugins.environments.slurm import SLURMEnvironment

        if torchrun() or relaunched():
            return
        if not slurm():
            os.environ |= {LAUNCHER: str(os.getpid()), "MASTER_PORT": str(find_free_network_port())}
            return
        nodes, job = os.environ["SLURM_NODELIST"], os.environ.get("SLURM_JOB_ID", "0")
        os.environ.setdefault("MASTER_ADDR", SLURMEnvironment.resolve_root_node_address(nodes))
        os.environ.setdefault("MASTER_PORT", str(15000 + int(job[-4:])))
        node = (self.rank - self.own.local_rank) // self.own.devices
        os.environ |= {"NODE_RANK": str(node), "LOCAL_RANK": str(self.own.local_rank)}

    def _watch(self) -> None:
        """Start the thread that ends this rank if the main thread does not after a signal or the end of a rank."""
        receiver, sender = os.pipe()
        os.set_blocking(sender, False)
        if self.handlers:
            signal.set_wakeup_fd(sender)
        others = [int(os.environ[LAUNCHER])] if self.rank and LAUNCHER in os.environ else []
        others += [child.pid for child in self.children]
        try:  # Linux; elsewhere a collective fails later
            ends = [os.pidfd_open(pid) for pid in others] if hasattr(os, "pidfd_open") else []
        except ProcessLookupError:
            self.exit(GONE)

        def watch() -> None:
            select.select([receiver, *ends], [], [])
            if not self.done.wait(0 if self.rank else UNWIND):
                name = self.signal and signal.Signals(self.signal).name
                self.exit(f"rank {self.rank} received {name}" if name else self._ended())

        threading.Thread(target=watch, daemon=True).start()

    def fail(self, error: BaseException) -> NoReturn:
        """End after an error: report it, unless another rank did."""
        interrupted, self.signal = self.signal, self.signal or signal.SIGTERM  # further signals are ignored
        gone, ended = self.world_size > 1 and _is_connection_error(error), GONE
        if self.rank:
            text = f"rank {self.rank}: {reason(error)}"
            if not isinstance(error, SignError | OSError):
                text = "".join(traceback.format_exception(error)).rstrip()
            self.exit(GONE if gone else text)
        if self.world_size > 1:
            if not self._claim():
                self.exit()
            ended = self._ended() if gone else GONE
            for child in self.children:
                child.kill()
            _clear_frames(error)
        if interrupted or isinstance(error, KeyboardInterrupt):
            name = signal.Signals(interrupted or signal.SIGINT).name
            raise KeyboardInterrupt(f"by {name}; {_hint}") from None
        if gone:
            raise SignError(f"{ended}; {_hint}") from None
        raise error

    def exit(self, message: str = "") -> NoReturn:
        """Exit at once, whatever blocks the main thread; print ``message`` unless rank 0 reports the failure."""
        deadline = time.monotonic() + GRACE
        while self.rank and self.token.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        if self._claim():
            print_to_stderr(f"error: {message}; {_hint}")
        for child in self.children:
            child.kill()
        sys.stdout.flush()
        os._exit(1)

    def _claim(self) -> bool:
        """Whether this rank is the one to report the failure."""
        with suppress(OSError):
            self.token.unlink()
            return True
        return False

    def _ended(self) -> str:
        """Which rank ended, as far as this one knows."""
        for number, child in enumerate(self.children, start=1):
            with suppress(TimeoutExpired):
                code = child.wait(0.5)
                return f"rank {number} ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"
        return GONE

    def close(self) -> None:
        """Destroy the process group, wait for the ranks launched here, and restore the signal handlers."""
        if self.control is not None:
            from torch import distributed

            self.control = None
            gc.collect()  # Lightning's objects refer to the group, and to each other
            distributed.destroy_process_group()
        for child in self.children:
            child.wait()
        self.done.set()
        for number, handler in self.handlers.items():
            signal.set_wakeup_fd(-1)
            signal.signal(number, handler)
        if self.world_size > 1 and not self.rank:
            self.token.unlink(missing_ok=True)


def _is_connection_error(error: BaseException) -> bool:
    """Whether a collective failed because another rank is gone."""
    from torch.distributed import DistError

    return isinstance(error, DistError) or (isinstance(error, RuntimeError) and "gloo" in str(error))


def _clear_frames(error: BaseException | None) -> None:
    """Drop the local variables of tracebacks: a process group that they refer to would abort the interpreter."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


_group: _Group | None = None
_hint = ""
