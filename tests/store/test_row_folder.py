"""Row files are complete or absent, keyed by content, verified and pruned."""

from pathlib import Path

import numpy as np
import pytest

from sign.store import maintenance
from sign.store.row_folder import RowFolder
from sign.store.shuffled import write_shuffled
from sign.system import arrays

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
KEY = {"split": "train", "hops": ["a", "b"], "positions": "c", "order": "sorted", "dtype": "float32"}


@pytest.fixture
def folder(tmp_path: Path) -> RowFolder:
    folder = RowFolder.of(tmp_path / "cora", **KEY)
    with folder.locked(), folder.draft(ROWS.shape) as out:
        out[:] = ROWS
    return folder


def test_a_row_file_is_found_by_its_key(folder: RowFolder, tmp_path: Path) -> None:
    again = RowFolder.of(tmp_path / "cora", verify=True, **KEY)
    assert again.entry() == folder.entry()
    assert again.entry() is not None
    assert (arrays.open_npy(again.file) == ROWS).all()
    for change in ({"hops": ["a"]}, {"order": "shuffled"}, {"positions": "d"}, {"dtype": "float16"}):
        assert RowFolder.of(tmp_path / "cora", **(KEY | change)).entry() is None


def test_a_file_that_was_not_finished_does_not_exist(tmp_path: Path) -> None:
    folder = RowFolder.of(tmp_path / "cora", **KEY)
    with pytest.raises(KeyboardInterrupt), folder.locked(), folder.draft(ROWS.shape):
        raise KeyboardInterrupt
    assert folder.entry() is None
    assert not list(folder.path.glob("*.npy*"))


def test_damage_is_found_and_pruned(folder: RowFolder, tmp_path: Path) -> None:
    assert maintenance.verify(tmp_path) == (1, [])
    content = bytearray(folder.file.read_bytes())
    content[-1] ^= 1
    folder.file.write_bytes(content)
    assert maintenance.verify(tmp_path) == (1, [folder.file])
    assert folder.entry() is not None
    assert RowFolder.of(tmp_path / "cora", verify=True, **KEY).entry() is None
    assert maintenance.prune(tmp_path, None, damaged=False, dry_run=False).removed == []
    assert maintenance.prune(tmp_path, None, damaged=True, dry_run=False).removed == [folder.file]
    assert folder.entry() is None


@pytest.mark.parametrize("bucket_rows", [1, 7, 40, 1000])
def test_rows_land_where_they_belong_in_any_number_of_buckets(
    bucket_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    rows, targets = rng.random((101, 3), dtype=np.float32), rng.permutation(101)
    monkeypatch.setattr("sign.store.shuffled._bucket_bytes", lambda: 12 * bucket_rows)
    out = np.lib.format.open_memmap(tmp_path / "out.npy", "w+", np.float32, rows.shape)
    write_shuffled(out, ((part, rows[part]) for part in arrays.row_slices(101, 12, 12 * 9)), targets)
    assert (out[targets] == rows).all()
