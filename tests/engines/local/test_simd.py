"""Vectors of floats in registers compute what numpy computes."""

from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from sign.engines.local.simd import add, load, prefetch, scale, store, zeros


@njit
def scaled_sum(x: Any, y: Any, factor: Any, out: Any) -> None:
    prefetch(x, 2)
    store(out, 1, add(scale(load(x, 2, 8), factor), load(y, 0, 8)))


@njit
def clear(out: Any) -> None:
    store(out, 1, zeros(4))


def test_load_scale_add_and_store() -> None:
    x, y = (np.random.default_rng(seed).random(10, dtype=np.float32) for seed in (0, 1))
    out = np.full(10, -1, np.float32)
    scaled_sum(x, y, np.float32(0.3), out)
    assert (out[1:9] == np.float32(0.3) * x[2:10] + y[:8]).all()
    assert out[[0, 9]].tolist() == [-1, -1]


def test_zeros() -> None:
    out = np.ones(6, np.float32)
    clear(out)
    assert out.tolist() == [1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("array", [np.ones(6), np.ones(12, np.float32)[::2]], ids=["double", "strided"])
def test_other_arrays_are_refused_by_the_compiler(array: np.ndarray) -> None:
    with pytest.raises(TypingError):
        clear(array)
