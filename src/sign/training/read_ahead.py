"""Read in a thread while the network trains on what was read before."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def read_ahead(read: Callable[[K], V], keys: Iterable[K]) -> Iterator[V]:
    """Yield ``read(key)`` for all keys in order; the next one is read in a thread meanwhile.

    At most two values exist at a time: a value may be overwritten once the next one is requested. An error of ``read``
    is raised where its value would be yielded.
    """
    remaining = iter(keys)
    with ThreadPoolExecutor(1, "read-ahead") as thread:
        pending = [thread.submit(read, key) for key in islice(remaining, 1)]
        while pending:
            value = pending.pop().result()
            pending = [thread.submit(read, key) for key in islice(remaining, 1)]
            yield value
