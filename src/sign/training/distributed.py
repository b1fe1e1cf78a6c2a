"""Processes that train one network together: how they start, what they are told, and how they end together.

The first process decides everything: it computes hops, makes the run folder, logs and prints. When there is
something to train, it tells the others what, and they take part. They are started here, on one machine, or by
torchrun or SLURM, on any number.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.process import BaseProcess
from typing import Any

import torch
from lightning_fabric.plugins.environments.cluster_environment import ClusterEnvironment
from lightning_fabric.plugins.environments.slurm import SLURMEnvironment
from pytorch_lightning.strategies import DDPStrategy
from torch import distributed
from torch.distributed import DistError, TCPStore  # type: ignore[attr-defined]

from sign.errors import FieldError, SharedError, SignError
from sign.system.console import console
from sign.training.ranks import Place, given
from sign.training.settings import Device

Order = dict[str, Any]  # plain values: what to train
Follow = Callable[[Order, Place], None]  # how another process takes part in it
PATIENCE = timedelta(days=365)  # of those who wait while the first computes hops
_orders: Any = None  # the processes as a group that may wait for long
GRACE = 10.0  # seconds in which a broken connection is noticed, before the first process ends itself


def processes(device: Device) -> int:
    """How many processes train: those that were started, or as many as are wanted on this machine."""
    if device.accelerator == "gpu" and not (torch.cuda.is_available() or torch.backends.mps.is_available()):
        raise FieldError(
            "trainer.accelerator", "gpu", "there is no GPU here; use trainer=auto or trainer=cpu"
        )
    if place := given(device):
        return place.world
    if device.num_nodes not in (None, 1):
        advice = "start the command on every machine with torchrun or srun; the README shows how"
        raise FieldError("trainer.num_nodes", device.num_nodes, advice)
    gpus = torch.cuda.device_count() if _on_gpu(device) else 0
    if device.devices is None and not gpus:
        raise FieldError(
            "trainer.devices", None, "there is no GPU to count; say how many processes, such as 2"
        )
    if _on_gpu(device) and device.devices and device.devices > gpus:
        raise FieldError("trainer.devices", device.devices, f"there are {gpus} GPUs here")
    return device.devices or gpus


@contextmanager
def leading(device: Device, follow: Follow) -> Iterator[bool]:
    """Whether this process is the first. Another one that torchrun or SLURM started does what the first says.

    That takes until the first leaves this context; if it leaves with an error, the others end with 1.
    """
    place = given(device)
    if place is None:
        yield True
        return
    if not distributed.is_initialized():
        _join(place, device, _store(place))
    if place.rank:
        console.quiet = True
        while order := _told(None):
            try:
                follow(order, place)
            except SharedError:  # the first process has it, too, and decides how to go on
                continue
            except (SignError, OSError) as error:
                print(f"error: process {place.rank}: {error}", file=sys.stderr)
                raise
        if order is None:
            sys.exit(1)
        yield False
        return
    end: Order | None = None
    try:
        yield True
        end = {}
    finally:
        if distributed.is_initialized():
            _told(end)


@contextmanager
def company(device: Device, follow: Follow, order: Order) -> Iterator[Place]:
    """The first process's place among those that do ``order``; they are started if nobody did."""
    place = given(device)
    if place is not None:
        if not distributed.is_initialized():
            raise SignError(
                "trainer=ddp: the processes of torchrun or srun are not connected; src/train.py alone connects "
                "them, until one of them fails"
            )
        _told(order)
        try:
            yield place
        except SharedError:  # the others wait for the next order
            raise
        except BaseException:  # of this one: the others are in the middle of something, and have to end
            distributed.destroy_process_group()
            raise
        return
    world = processes(device)
    if world == 1:
        yield Place()
        return
    store = TCPStore("127.0.0.1", 0, world, is_master=True, wait_for_workers=False)
    with _started(world, device, follow, order, store.port):
        try:
            _join(Place(0, world), device, store)
            yield Place(0, world)
        finally:
            if distributed.is_initialized():  # else an error came before, and is the one to be told
                distributed.destroy_process_group()


def meet(place: Place) -> None:
    """Wait until all processes have their hops, which may take longer than a collective of training would wait."""
    if place.world > 1:
        distributed.barrier(group=_orders)


def lightning_options(place: Place, device: Device) -> dict[str, Any]:
    """What ``pl.Trainer`` has to know about the processes."""
    if place.world == 1:
        return {"devices": 1}
    return {
        "devices": place.devices,
        "num_nodes": place.machines,
        "strategy": DDPStrategy(cluster_environment=_Environment(place)),
        "use_distributed_sampler": False,
        "sync_batchnorm": _on_gpu(device),  # torch has none for CPUs
    }


class _Environment(ClusterEnvironment):
    """What Lightning asks of whoever started the processes."""

    def __init__(self, place: Place) -> None:
        self.place = place

    creates_processes_externally = True
    main_address, main_port = "127.0.0.1", 0  # not used: the processes have met before

    @staticmethod
    def detect() -> bool:
        return False

    def world_size(self) -> int:
        return self.place.world

    def set_world_size(self, size: int) -> None:
        pass

    def global_rank(self) -> int:
        return self.place.rank

    def set_global_rank(self, rank: int) -> None:
        pass

    def local_rank(self) -> int:
        return self.place.local_rank

    def node_rank(self) -> int:
        return (self.place.rank - self.place.local_rank) // self.place.devices


def _on_gpu(device: Device) -> bool:
    return device.accelerator in ("auto", "gpu") and torch.cuda.is_available()


def _store(place: Place) -> TCPStore | None:
    """Where processes meet that SLURM started; torchrun's have a place of their own."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return None
    environment = SLURMEnvironment
    host = os.environ.get("MASTER_ADDR") or environment.resolve_root_node_address(
        os.environ["SLURM_NODELIST"]
    )
    port = int(os.environ.get("MASTER_PORT") or 15000 + int(os.environ.get("SLURM_JOB_ID", "0")[-4:]))
    try:
        return TCPStore(host, port, place.world, is_master=place.rank == 0)
    except (DistError, RuntimeError) as error:
        raise SignError(
            f"trainer=ddp: the {place.world} processes of SLURM did not meet at {host}:{port}; "
            "start the command with srun, or set MASTER_ADDR and MASTER_PORT"
        ) from error


def _join(place: Place, device: Device, store: TCPStore | None) -> None:
    """Connect with the others."""
    global _orders
    backend = "cpu:gloo,cuda:nccl" if _on_gpu(device) else "gloo"
    where: dict[str, Any] = {"store": store, "rank": place.rank, "world_size": place.world} if store else {}
    distributed.init_process_group(backend, **where)
    _orders = distributed.new_group(backend="gloo", timeout=PATIENCE)


def _told(order: Order | None) -> Order | None:
    """What the first process says: something to do, {} that all is done, or None that it failed."""
    words = [order]
    distributed.broadcast_object_list(words, src=0, group=_orders)
    return words[0]


@contextmanager
def _started(world: int, device: Device, follow: Follow, order: Order, port: int) -> Iterator[None]:
    """Start the other processes of this machine; whatever happens here, none of them is left."""
    context = multiprocessing.get_context("spawn")
    others: list[BaseProcess] = [
        context.Process(
            target=_member, args=(Place(rank, world, rank), device, follow, order, port), daemon=True
        )
        for rank in range(1, world)
    ]
    done = threading.Event()
    try:
        _start_without_ctrl_c(others)
        threading.Thread(target=_watch, args=(others, done), daemon=True).start()
        yield
    except SharedError:
        raise
    except Exception as error:
        if failed := _failed(others, wait=2.0):
            raise SignError(_ended(failed)) from error
        raise
    finally:
        done.set()
        for process in others:
            if process.pid is not None:
                process.kill()  # it writes nothing, and may wait for us forever
                process.join()


def _member(place: Place, device: Device, follow: Follow, order: Order, port: int) -> None:
    """What a process does that was started here."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    console.quiet = True
    _join(place, device, TCPStore("127.0.0.1", port, place.world, is_master=False))
    follow(order, place)


def _start_without_ctrl_c(processes: list[BaseProcess]) -> None:
    """Ctrl-C goes to all processes of a terminal; the first one decides what becomes of the others."""
    if threading.current_thread() is not threading.main_thread():
        for process in processes:
            process.start()
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for process in processes:
            process.start()
    finally:
        signal.signal(signal.SIGINT, before)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _watch(others: list[BaseProcess], done: threading.Event) -> None:
    """End the first process if another one failed and it waits for that one without end."""
    while not done.wait(0.5):
        if (failed := _failed(others)) and not done.wait(GRACE):
            print(f"error: {_ended(failed)}", file=sys.stderr)
            for process in others:
                process.kill()
            os._exit(1)


def _failed(others: list[BaseProcess], wait: float = 0.0) -> list[BaseProcess]:
    for process in others:
        process.join(wait if process.pid is not None else 0)
    return [process for process in others if process.exitcode]


def _ended(failed: list[BaseProcess]) -> str:
    return f"a process of the training ended with {failed[0].exitcode}; what it said stands above"
