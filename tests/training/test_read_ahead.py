"""Values arrive in order, at most one is read ahead, and errors arrive where the value would."""

import threading

import pytest

from sign.training.read_ahead import read_ahead


def test_values_arrive_in_order_and_one_is_read_ahead() -> None:
    begun: list[int] = []

    def read(key: int) -> int:
        begun.append(key)
        return key * key

    assert list(read_ahead(read, range(5))) == [0, 1, 4, 9, 16]
    assert list(read_ahead(read, [])) == []
    begun.clear()
    values = read_ahead(read, range(100))
    next(values)
    values.close()
    assert begun in ([0], [0, 1])


def test_reading_happens_beside_the_caller() -> None:
    released = threading.Event()

    def read(key: int) -> int:
        if key == 1:
            released.wait(30)  # until the caller works on the value before
        return key

    values = read_ahead(read, range(2))
    assert next(values) == 0
    released.set()
    assert next(values) == 1


def test_an_error_is_raised_where_its_value_would_be() -> None:
    def read(key: int) -> int:
        return 1 // (1 - key)

    values = read_ahead(read, range(3))
    assert next(values) == 1
    with pytest.raises(ZeroDivisionError):
        next(values)
