"""Threads compute ahead, and nothing else changes."""

import itertools

import pytest

from sign.baselines.samplers.parallel import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_the_order_of_the_arguments(threads: int) -> None:
    assert list(in_order(lambda number: number**2, range(20), threads)) == [number**2 for number in range(20)]
    assert list(in_order(str, [], threads)) == []


def test_an_endless_list_is_read_a_few_ahead() -> None:
    read = itertools.count()
    results = in_order(str, read, threads=2)
    assert [next(results) for _ in range(3)] == ["0", "1", "2"]
    results.close()  # type: ignore[attr-defined]
    assert next(read) < 10


def test_an_error_reaches_the_consumer() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda number: 1 // number, [1, 0, 1], threads=2))
