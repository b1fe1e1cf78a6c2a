"""The store finds by content, and never takes half a file for a whole one."""

import json
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from sign.errors import SignError
from sign.store.store import Store

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


def test_altered_bytes_are_found_out_on_demand(store: Store, tmp_path: Path) -> None:
    chain = store.chain("cora")
    chain.write(1, ARRAY, 0)
    file = chain.folder / "hop-1.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert list(store.chain("cora").hops()) == [1]
    careful = Store(str(tmp_path), verify=True).chain("cora")
    assert careful.hops() == {}
    careful.write(1, ARRAY, 0)
    assert list(careful.hops()) == [1]


@pytest.mark.parametrize("text", ["{}", "[]", '{"hops": []}', '{"hops": {"one": 1}}', '{"hops": {"1": {}}}'])
def test_a_manifest_of_another_kind_is_no_manifest(store: Store, text: str) -> None:
    chain = store.chain("cora")
    chain.write(1, ARRAY, 0)
    (chain.folder / "manifest.json").write_text(text)
    assert chain.hops() == {}


@pytest.mark.parametrize("name", ["seconds", "products", "checksum", "shape"])
@pytest.mark.parametrize("value", [None, "?"])
def test_a_record_that_lacks_something_is_none(store: Store, name: str, value: object) -> None:
    chain = store.chain("cora")
    chain.write(1, ARRAY, 0)
    manifest = json.loads((chain.folder / "manifest.json").read_text())
    manifest["hops"]["1"][name] = value
    if value is None:
        del manifest["hops"]["1"][name]
    (chain.folder / "manifest.json").write_text(json.dumps(manifest))
    assert Store(store.root, verify=True).chain("cora").hops() == {}


def test_a_full_disk_gets_a_sentence_and_leaves_nothing(store: Store) -> None:
    """A limit on the size of files stands for the disk that is full."""
    chain = store.chain("cora")
    chain.write(1, ARRAY, 0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(SignError, match="no space on the disk for 4"):
            chain.write(2, np.zeros((1000, 1000), np.float32), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(chain.hops()) == [1]
    assert sorted(file.name for file in chain.folder.iterdir()) == ["hop-1.npy", "manifest.json"]


def test_what_a_killed_process_left_behind_is_swept(store: Store) -> None:
    chain = store.chain("cora")
    chain.write(1, ARRAY, 0)
    (chain.folder / ".hop-2.npy.tmp").write_bytes(b"half")
    with chain.locked(lambda: None):
        assert not list(chain.folder.glob(".*.tmp"))
    assert list(chain.hops()) == [1]


def test_a_file_without_a_record_does_not_count(store: Store) -> None:
    chain = store.chain("cora")
    chain.folder.mkdir(parents=True)
    np.save(chain.folder / "hop-1.npy", ARRAY)
    assert chain.hops() == {}
