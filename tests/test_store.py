"""The store finds by content, and never takes half a file for a whole one."""

import json
from pathlib import Path

import numpy as np
import pytest

from sign.store import Store

ARRAY = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def test_what_was_written_is_found_again_and_memory_mapped(store: Store) -> None:
    store.chain("cora", operator="A").write(2, ARRAY, seconds=1.5)
    chain = store.chain("cora", operator="A")
    assert list(chain.hops()) == [2]
    found = chain.open(2)
    assert isinstance(found, np.memmap)
    assert (found == ARRAY).all()


def test_another_key_or_dtype_is_another_chain(store: Store, tmp_path: Path) -> None:
    store.chain("cora", operator="A").write(1, ARRAY, 0)
    assert store.chain("cora", operator="B").hops() == {}
    assert Store(str(tmp_path), dtype="float16").chain("cora", operator="A").hops() == {}


def test_the_manifest_says_what_the_hops_are(store: Store) -> None:
    chain = store.chain("cora", operator={"class": "A", "alpha": 0.1})
    chain.write(1, ARRAY, seconds=1.5)
    chain.write(2, ARRAY, seconds=2.5)
    manifest = json.loads((chain.folder / "manifest.json").read_text())
    assert manifest["operator"] == {"class": "A", "alpha": 0.1}
    assert manifest["hops"]["2"]["shape"] == [4, 3]
    assert manifest["hops"]["2"]["seconds"] == 2.5


def test_half_precision_is_stored_as_such(tmp_path: Path) -> None:
    stored = Store(str(tmp_path), dtype="float16").chain("cora").write(0, ARRAY, 0)
    assert stored.dtype == np.float16


@pytest.mark.parametrize("harm", ["truncate", "remove", "manifest"])
def test_a_damaged_hop_is_not_taken_for_whole(store: Store, harm: str) -> None:
    chain = store.chain("cora")
    chain.write(1, ARRAY, 0)
    file = chain.folder / "hop-1.npy"
    if harm == "truncate":
        file.write_bytes(file.read_bytes()[:-1])
    elif harm == "remove":
        file.unlink()
    else:
        (chain.folder / "manifest.json").write_text("{")
    assert chain.hops() == {}
    chain.write(1, ARRAY, 0)
    assert (chain.open(1) == ARRAY).all()


def test_a_file_without_a_record_does_not_count(store: Store) -> None:
    chain = store.chain("cora")
    chain.folder.mkdir(parents=True)
    np.save(chain.folder / "hop-1.npy", ARRAY)
    assert chain.hops() == {}
