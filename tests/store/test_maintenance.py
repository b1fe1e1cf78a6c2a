"""What maintenance reads, finds damaged and removes."""

import fcntl
import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from common.store import write_hop

from sign.store import maintenance
from sign.store.store import HopFolder, Store

ARRAY = np.arange(12, dtype=np.float32).reshape(4, 3)
OPERATOR = {"name": "ppr", "alpha": 0.1}


@pytest.fixture
def folder(tmp_path: Path) -> HopFolder:
    folder = Store(str(tmp_path)).folder("cora", operator=OPERATOR, scope="full", rows=None)
    for power in (1, 2, 4):
        write_hop(folder, power, ARRAY, 0)
    return folder


def test_an_entry_is_the_key_and_the_hops_of_a_folder(folder: HopFolder, tmp_path: Path) -> None:
    (entry,) = map(maintenance.read_entry, maintenance.folders(tmp_path))
    assert (entry.path, entry.key["operator"], list(entry.hops)) == (folder.path, OPERATOR, [1, 2, 4])
    assert entry.size() == sum(file.stat().st_size for file in folder.path.iterdir())
    assert entry.unused_days() < 1


def test_damage_is_found_and_removed(folder: HopFolder, tmp_path: Path) -> None:
    assert maintenance.verify(tmp_path) == (3, [])
    file = folder.path / "hop-2.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert maintenance.verify(tmp_path) == (3, [file])
    maintenance.prune(tmp_path, None, damaged=False, dry_run=False)
    assert file.exists()
    maintenance.prune(tmp_path, None, damaged=True, dry_run=False)
    assert list(folder.hops()) == [1, 4]


def test_incomplete_files_and_folders_of_other_versions_are_removed(folder: HopFolder, tmp_path: Path) -> None:
    half, unlisted = folder.path / ".hop-3.npy.tmp", folder.path / "hop-9.npy"
    other = tmp_path / "cora" / "0123456789abcdef"
    other.mkdir()
    (other / "hop-1.npy").write_bytes(b"?")
    mine = tmp_path / "cora" / "notes"  # a folder of somebody's own, and a file in one of ours
    mine.mkdir()
    for file in (mine / "manifest.json", mine / "hop-1.npy", folder.path / "notes.txt"):
        file.write_text("hello")
    for file in (half, unlisted):
        file.write_bytes(b"?")
    planned = maintenance.prune(tmp_path, None, damaged=False, dry_run=True)
    assert sorted(planned.removed) == sorted([half, unlisted, other])
    assert half.exists()
    assert maintenance.prune(tmp_path, None, damaged=False, dry_run=False).freed == planned.freed == 3
    assert not any(path.exists() for path in (half, unlisted, other))
    assert len(list(mine.iterdir())) == 2
    assert (folder.path / "notes.txt").exists()
    assert list(folder.hops()) == [1, 2, 4]


def test_folders_that_no_run_has_used_for_long_are_removed(folder: HopFolder, tmp_path: Path) -> None:
    before = time.time() - 10 * maintenance.DAY
    for path in [*folder.path.iterdir(), folder.path]:
        os.utime(path, (before, before))
    maintenance.prune(tmp_path, 11, damaged=False, dry_run=False)
    assert list(folder.hops()) == [1, 2, 4]
    folder.touch()
    maintenance.prune(tmp_path, 9, damaged=False, dry_run=False)
    assert list(folder.hops()) == [1, 2, 4]
    for path in [*folder.path.iterdir(), folder.path]:
        os.utime(path, (before, before))
    with folder.locked():  # a run is writing to it
        assert maintenance.prune(tmp_path, 9, damaged=False, dry_run=False).busy == [folder.path]
    assert list(folder.hops()) == [1, 2, 4]
    for path in [*folder.path.iterdir(), folder.path]:
        os.utime(path, (before, before))
    maintenance.prune(tmp_path, 9, damaged=False, dry_run=False)
    assert not folder.path.exists()


@pytest.mark.parametrize("harm", ["hops", "scope", "operator", "dtype"])
def test_an_incomplete_manifest_is_pruned_and_stops_nothing(folder: HopFolder, tmp_path: Path, harm: str) -> None:
    manifest = json.loads((folder.path / "manifest.json").read_text())
    del manifest[harm]
    (folder.path / "manifest.json").write_text(json.dumps(manifest))
    assert maintenance.verify(tmp_path)[1] == []
    maintenance.prune(tmp_path, None, damaged=True, dry_run=False)
    assert not list(folder.path.glob("hop-*.npy"))


def test_a_run_that_waited_for_a_folder_that_was_pruned_makes_it_again(folder: HopFolder, tmp_path: Path) -> None:
    def pruned_meanwhile() -> None:
        shutil.rmtree(folder.path)
        holder.close()

    holder = (folder.path / ".lock").open("a")
    fcntl.flock(holder, fcntl.LOCK_EX)
    with folder.locked(pruned_meanwhile):
        write_hop(folder, 1, ARRAY, 0)
    assert list(folder.hops()) == [1]
