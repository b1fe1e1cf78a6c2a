"""Threads that sample batches ahead of their consumer."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

import numba

Argument = TypeVar("Argument")
Result = TypeVar("Result")
AHEAD = 2  # batches per thread that wait for the consumer


def in_order(
    function: Callable[[Argument], Result], arguments: Iterable[Argument], threads: int | None = None
) -> Iterator[Result]:
    """Iterate over the results in the order of the arguments, which threads compute a few ahead.

    The function should spend its time in compiled code without the GIL. It must not contain parallel loops of numba:
    not every threading layer allows them in several threads.
    """
    threads = threads or numba.get_num_threads()
    remaining = iter(arguments)
    if threads == 1:
        yield from map(function, remaining)
        return
    pool = ThreadPoolExecutor(threads)
    try:
        waiting: deque[Future[Result]] = deque(
            pool.submit(function, each) for each in islice(remaining, AHEAD * threads)
        )
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(function, each) for each in islice(remaining, 1))
            yield result
    finally:
        pool.shutdown(cancel_futures=True)
