"""Arrays are converted once, atomically, and mapped afterwards."""

from pathlib import Path

import numpy as np
import pytest

from sign.datasets.array_cache import cached_arrays
from sign.errors import SignError
from sign.system import arrays


def convert(raw: Path, *blocks: np.ndarray) -> np.ndarray:
    (array,) = cached_arrays(raw, raw.parent / "cache", ("x",), ((block,) for block in blocks))
    return array


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    file = tmp_path / "raw"
    file.write_text("content")
    return file


def test_blocks_become_one_mapped_array(raw: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sign")
    blocks = np.arange(30, dtype=np.float32).reshape(5, 3, 2)
    array = convert(raw, *blocks)
    assert arrays.memory_map(array) is not None
    assert (array == blocks.reshape(15, 2)).all()
    assert (convert(raw) == array).all()  # no blocks are read again
    assert len(caplog.records) == 1
    raw.write_text("other content")
    assert (convert(raw, blocks[0]) == blocks[0]).all()
    assert len(list((raw.parent / "cache").glob("*.npy"))) == 1


@pytest.mark.parametrize("blocks", [(), (np.zeros((2, 3)), np.zeros((2, 4))), (np.zeros(2), np.zeros(2, int))])
def test_inconsistent_blocks_leave_no_file(raw: Path, blocks: tuple[np.ndarray, ...]) -> None:
    with pytest.raises(SignError, match="cannot be read as a complete data file"):
        convert(raw, *blocks)
    assert [file.name for file in (raw.parent / "cache").iterdir()] == [".lock"]
