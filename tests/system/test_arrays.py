"""Arrays keep to a budget, and sizes are read and written."""

from pathlib import Path

import numpy as np
import pytest

from sign.errors import SignError
from sign.system import arrays, memory

MB = 10**6


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MIN_MAPPED_BYTES", 0)


def test_arrays_beyond_the_budget_lie_in_files_that_leave_no_trace(tmp_path: Path) -> None:
    with memory.limit(memory.resident() + 20 * MB, tmp_path):
        held, mapped = (arrays.empty((1000, 1000), np.float64) for _ in range(2))
        mapped[:] = 3
        assert arrays.memory_map(held) is None
        assert arrays.memory_map(mapped) is not None
        arrays.release(mapped)
        assert (mapped == 3).all()
        assert not list(tmp_path.iterdir())
        del held
        assert arrays.memory_map(arrays.empty((1000, 1000), np.float64)) is None  # its place is free again
    assert arrays.memory_map(arrays.empty(10**6, np.float64)) is None


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


def test_no_room_for_a_file_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", refuse)
    with memory.limit(0, tmp_path), pytest.raises(SignError, match=r"no space on the disk for 8.0 MB"):
        arrays.empty(10**6, np.float64)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 10**9), ("1.5 MB", 1_500_000), ("700", 700), ("4", 4), ("four", None), ("4gb", None)],
)
def test_sizes(text: str, size: int | None) -> None:
    assert memory.parse_size(text) == size
    assert memory.format_size(1_536_000) == "1.5 MB"


def test_changes_of_a_private_map_are_kept(tmp_path: Path) -> None:
    np.save(tmp_path / "x", np.zeros(10**5))
    private, shared = (np.load(tmp_path / "x.npy", mmap_mode=mode) for mode in ("c", "r"))
    private[5] = 1
    arrays.release(private, private[:100], shared)
    assert private[5] == 1
    assert arrays.memory_map(private) is None
    assert arrays.memory_map(shared[3:]) is not None


def test_a_control_group_counts_with_what_it_could_give_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    before = memory.available()
    for name, value in (("memory.max", "4000000"), ("memory.current", "3500000")):
        (tmp_path / name).write_text(value)
    assert memory.available() == 500_000
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 3000000\n")
    assert memory.available() == 3_500_000
    (tmp_path / "memory.max").write_text("max")
    assert memory.available() > before / 2
