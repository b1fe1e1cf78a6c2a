"""Arrays stay within the memory budget."""

from pathlib import Path

import numpy as np
import pytest

from sign.errors import SignError
from sign.system import arrays, memory

MB = 10**6


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)


def test_arrays_beyond_the_budget_are_anonymous_files(tmp_path: Path) -> None:
    with memory.limit(memory.resident() + 20 * MB, tmp_path):
        held, mapped = (arrays.empty((1000, 1000), np.float64) for _ in range(2))
        mapped[:] = 3
        assert arrays.memory_map(held) is None
        assert arrays.memory_map(mapped) is not None
        arrays.release(mapped)
        assert (mapped == 3).all()
        assert not list(tmp_path.iterdir())
        del held
        assert arrays.memory_map(arrays.empty((1000, 1000), np.float64)) is None  # its bytes are free again
    assert arrays.memory_map(arrays.empty(10**6, np.float64)) is None


@pytest.mark.slow  # resident sizes depend on the allocator and on the load of the machine
def test_released_pages_are_not_resident(tmp_path: Path) -> None:
    with memory.limit(0, tmp_path):
        array = arrays.empty(10**7, np.float64)
    array[:] = 1
    full = memory.resident()
    arrays.release(array[: 5 * 10**6])
    assert 30 * MB < full - memory.resident() < 50 * MB
    assert array.sum() == 10**7


def test_rows_are_gathered_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "CHUNK_BYTES", 100)
    array, rows = np.arange(300).reshape(100, 3), np.array([0, 1, 50, 51, 99])
    blocks = list(arrays.gather(array, rows))
    assert len(blocks) == 3
    assert (np.concatenate([values for _, values in blocks]) == array[rows]).all()
    assert (arrays.copy_rows(array, rows) == array[rows]).all()


def test_a_full_disk_is_an_error_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", refuse)
    with memory.limit(0, tmp_path), pytest.raises(SignError, match=r"no space on the disk for 8.0 MB"):
        arrays.empty(10**6, np.float64)


def test_changes_of_a_private_map_are_kept(tmp_path: Path) -> None:
    np.save(tmp_path / "x", np.zeros(10**5))
    private, shared = (np.load(tmp_path / "x.npy", mmap_mode=mode) for mode in ("c", "r"))
    private[5] = 1
    arrays.release(private, private[:100], shared)
    assert private[5] == 1
    assert arrays.memory_map(private) is None
    assert arrays.memory_map(shared[3:]) is not None
