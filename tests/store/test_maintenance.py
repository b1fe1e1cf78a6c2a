"""The store command: what is listed, found damaged and removed."""

import fcntl
import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from sign.errors import SignError
from sign.store import maintenance
from sign.store.store import Chain, Store

ARRAY = np.arange(12, dtype=np.float32).reshape(4, 3)
OPERATOR = {"class": "sign.operators.ppr.PersonalizedPageRank", "alpha": 0.1}


@pytest.fixture
def chain(tmp_path: Path) -> Chain:
    chain = Store(str(tmp_path)).chain("cora", operator=OPERATOR, scope="full", rows=None)
    for power in (1, 2, 4):
        chain.write(power, ARRAY, 0)
    return chain


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_the_list_names_operators_hops_and_sizes(
    chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    maintenance.show(tmp_path)
    text = said(capsys)
    for part in ("cora", "alpha=0.1", chain.folder.name, "1 to 2, 4", "min ago", "in all"):
        assert part in text


def test_damage_is_found_and_removed(
    chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    maintenance.verify(tmp_path)
    assert "3 hops are as they were written" in said(capsys)
    file = chain.folder / "hop-2.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(SignError, match="1 of 3 hops are damaged"):
        maintenance.verify(tmp_path)
    maintenance.prune(tmp_path, None, damaged=False, dry_run=False)
    assert file.exists()
    maintenance.prune(tmp_path, None, damaged=True, dry_run=False)
    assert list(chain.hops()) == [1, 4]


def test_what_is_of_no_use_is_removed(
    chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half, unlisted = chain.folder / ".hop-3.npy.tmp", chain.folder / "hop-9.npy"
    other = tmp_path / "cora" / "0123456789abcdef"
    other.mkdir()
    (other / "hop-1.npy").write_bytes(b"?")
    mine = tmp_path / "cora" / "notes"  # a folder of somebody's own, and a file in one of ours
    mine.mkdir()
    for file in (mine / "manifest.json", mine / "hop-1.npy", chain.folder / "notes.txt"):
        file.write_text("hello")
    for file in (half, unlisted):
        file.write_bytes(b"?")
    maintenance.prune(tmp_path, None, damaged=False, dry_run=True)
    assert said(capsys).count("would remove") == 3
    assert half.exists()
    maintenance.prune(tmp_path, None, damaged=False, dry_run=False)
    assert not any(path.exists() for path in (half, unlisted, other))
    assert len(list(mine.iterdir())) == 2
    assert (chain.folder / "notes.txt").exists()
    assert list(chain.hops()) == [1, 2, 4]


def test_hops_that_no_run_has_used_for_long(chain: Chain, tmp_path: Path) -> None:
    before = time.time() - 10 * maintenance.DAY
    for path in [*chain.folder.iterdir(), chain.folder]:
        os.utime(path, (before, before))
    maintenance.prune(tmp_path, 11, damaged=False, dry_run=False)
    assert list(chain.hops()) == [1, 2, 4]
    chain.touch()
    maintenance.prune(tmp_path, 9, damaged=False, dry_run=False)
    assert list(chain.hops()) == [1, 2, 4]
    for path in [*chain.folder.iterdir(), chain.folder]:
        os.utime(path, (before, before))
    with chain.locked(lambda: None):  # a run is at it
        maintenance.prune(tmp_path, 9, damaged=False, dry_run=False)
    assert list(chain.hops()) == [1, 2, 4]
    for path in [*chain.folder.iterdir(), chain.folder]:
        os.utime(path, (before, before))
    maintenance.prune(tmp_path, 9, damaged=False, dry_run=False)
    assert not chain.folder.exists()


@pytest.mark.parametrize("harm", ["hops", "scope", "operator", "dtype"])
def test_a_manifest_that_lacks_something_stops_nothing(chain: Chain, tmp_path: Path, harm: str) -> None:
    manifest = json.loads((chain.folder / "manifest.json").read_text())
    del manifest[harm]
    (chain.folder / "manifest.json").write_text(json.dumps(manifest))
    maintenance.show(tmp_path)
    maintenance.verify(tmp_path)
    maintenance.prune(tmp_path, None, damaged=True, dry_run=False)
    assert not list(chain.folder.glob("hop-*.npy"))


def test_a_run_that_waited_for_a_folder_that_was_pruned_makes_it_again(chain: Chain, tmp_path: Path) -> None:
    def pruned_meanwhile() -> None:
        shutil.rmtree(chain.folder)
        holder.close()

    holder = (chain.folder / ".lock").open("a")
    fcntl.flock(holder, fcntl.LOCK_EX)
    with chain.locked(pruned_meanwhile):
        chain.write(1, ARRAY, 0)
    assert list(chain.hops()) == [1]
