"""Processes that diffuse the same generated graph: forks of a server, which need not import the libraries again."""

import logging
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

POWER = 6
LIBRARIES = ["numba", "sign.datasets.synthetic.communities", "sign.diffusion.precompute", "sign.engines.local.engine"]
CONTEXT = multiprocessing.get_context("forkserver")


class Diffusion:
    """A process that has its graph, and waits before it diffuses; each product adds a line to ``log``."""

    def __init__(self, store: Path, log: Path) -> None:
        CONTEXT.set_forkserver_preload(LIBRARIES)
        self.connection, other = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=diffuse_when_asked, args=(store, log, other))
        self.process.start()
        other.close()

    def begin(self) -> None:
        """Diffuse, as soon as the graph is there."""
        assert self.connection.recv() == "ready"
        self.connection.send("diffuse")

    def end(self) -> tuple[int, list[str]]:
        """Wait for the process; return how many hop arrays it computed, and what it logged."""
        computed, messages = self.connection.recv()
        self.process.join()
        assert self.process.exitcode == 0
        return computed, messages

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


class Messages(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def diffuse_when_asked(store: Path, log: Path, connection: Connection) -> None:
    from sign.datasets.synthetic.communities import Communities
    from sign.diffusion.precompute import diffuse
    from sign.engines.local.engine import LocalEngine
    from sign.graph.classification import classification_of
    from sign.operators.adjacency import NormalizedAdjacency
    from sign.store.store import Store

    class Counted(LocalEngine):
        def product(self, *arguments: Any, **options: Any) -> Any:
            with log.open("a") as stream:
                stream.write("product\n")
            return super().product(*arguments, **options)

    graph = Communities(nodes=60_000, edges=300_000, features=64).load()
    messages, logger = Messages(), logging.getLogger("sign")
    logger.addHandler(messages)
    logger.setLevel(logging.INFO)
    connection.send("ready")
    connection.recv()
    powers = {"p": (NormalizedAdjacency(), POWER)}
    hops = diffuse(classification_of(graph), powers, Counted(threads=1), Store(str(store)))
    connection.send((hops.computed, messages.texts))
