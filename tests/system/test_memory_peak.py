"""The peak is that of memory that is needed; mapped pages of files are counted apart."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sign.system import memory_peak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells needed memory from mapped pages")
SIZE = 100_000_000


def peaks() -> tuple[int, int]:
    return tuple(memory_peak.metrics().values())  # type: ignore[return-value]


def test_the_peak_is_that_since_watching_began() -> None:
    memory_peak.watch()
    before, _ = peaks()
    array = np.ones(SIZE // 8)
    assert peaks()[0] > before + 0.9 * SIZE
    del array
    assert peaks()[0] > before + 0.9 * SIZE
    memory_peak.watch()
    assert peaks()[0] < before + 0.5 * SIZE


def test_what_was_needed_between_two_looks_is_sampled() -> None:
    memory_peak.watch()
    before, _ = peaks()
    array = np.ones(SIZE // 8)
    enough, deadline = before + 0.9 * SIZE, time.monotonic() + 60
    while memory_peak._peak.needed < enough and time.monotonic() < deadline:  # type: ignore[union-attr]
        array += 1  # until the thread has looked
    assert memory_peak._peak.needed >= enough  # type: ignore[union-attr]
    del array


def test_mapped_pages_are_counted_apart(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.ones(SIZE // 8))
    memory_peak.watch()
    needed, mapped = peaks()
    assert np.load(tmp_path / "array.npy", mmap_mode="r").sum() == SIZE // 8
    assert peaks()[1] >= mapped
    array = np.load(tmp_path / "array.npy", mmap_mode="r")
    array.max()
    assert peaks()[1] > mapped + 0.9 * SIZE
    assert peaks()[0] < needed + 0.5 * SIZE
