"""Compiled functions compute what Python computes, without the GIL, and are compiled once."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sign.system import jit

SOURCE = """
from sign.system.jit import compiled, compiled_inline

@compiled_inline
def square(x):
    return x * x

@compiled
def sum_of_squares(values):
    total = 0.0
    for value in values:
        total += square(value)
    return total
"""


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("kernels_of_a_test", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_compiled_function_equals_python_and_is_read_from_disk_the_second_time(tmp_path: Path) -> None:
    file = tmp_path / "kernels_of_a_test.py"
    file.write_text(SOURCE)
    first, again = load(file), load(file)
    values = np.arange(5.0)
    assert first.sum_of_squares(values) == again.sum_of_squares(values) == first.sum_of_squares.py_func(values) == 30.0
    assert sum(first.sum_of_squares.stats.cache_misses.values()) == 1
    assert not sum(again.sum_of_squares.stats.cache_misses.values())
    assert sum(again.sum_of_squares.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("name", ["compiled", "compiled_inline", "compiled_parallel"])
def test_every_decorator_releases_the_gil_and_compiles_without_python_objects(name: str) -> None:
    function: Any = getattr(jit, name)(_half)
    assert function.targetoptions["nogil"]
    assert function.targetoptions["nopython"]
    assert function.py_func is _half
    assert bool(function.targetoptions.get("parallel")) is (name == "compiled_parallel")


def _half(x: float) -> float:
    return x / 2
