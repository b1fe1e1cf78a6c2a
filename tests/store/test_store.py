"""The store finds by content, and never takes half a file for a whole one."""

import errno
import json
import resource
import signal
from pathlib import Path

import numpy as np
import pytest
from common.store import write_hop

from sign.errors import SignError
from sign.store.store import Store

ARRAY = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def test_what_was_written_is_found_again_and_memory_mapped(store: Store) -> None:
    write_hop(store.folder("cora", operator="A"), 2, ARRAY, seconds=1.5)
    folder = store.folder("cora", operator="A")
    assert list(folder.hops()) == [2]
    found = folder.open(2)
    assert isinstance(found, np.memmap)
    assert (found == ARRAY).all()


def test_another_key_or_dtype_is_another_folder(store: Store, tmp_path: Path) -> None:
    write_hop(store.folder("cora", operator="A"), 1, ARRAY, 0)
    assert store.folder("cora", operator="B").hops() == {}
    assert Store(str(tmp_path), dtype="float16").folder("cora", operator="A").hops() == {}


def test_the_manifest_says_what_the_hops_are(store: Store) -> None:
    folder = store.folder("cora", operator={"name": "A", "alpha": 0.1})
    write_hop(folder, 1, ARRAY, seconds=1.5)
    write_hop(folder, 2, ARRAY, seconds=2.5)
    manifest = json.loads((folder.path / "manifest.json").read_text())
    assert manifest["operator"] == {"name": "A", "alpha": 0.1}
    assert manifest["hops"]["2"]["shape"] == [4, 3]
    assert manifest["hops"]["2"]["seconds"] == 2.5


def test_half_precision_is_stored_as_such(tmp_path: Path) -> None:
    stored = write_hop(Store(str(tmp_path), dtype="float16").folder("cora"), 0, ARRAY, 0)
    assert stored.dtype == np.float16


@pytest.mark.parametrize("harm", ["truncate", "remove", "manifest"])
def test_a_damaged_hop_is_not_taken_for_whole(store: Store, harm: str) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY, 0)
    file = folder.path / "hop-1.npy"
    if harm == "truncate":
        file.write_bytes(file.read_bytes()[:-1])
    elif harm == "remove":
        file.unlink()
    else:
        (folder.path / "manifest.json").write_text("{")
    assert folder.hops() == {}
    write_hop(folder, 1, ARRAY, 0)
    assert (folder.open(1) == ARRAY).all()


def test_altered_bytes_are_found_out_on_demand(store: Store, tmp_path: Path) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY, 0)
    file = folder.path / "hop-1.npy"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert list(store.folder("cora").hops()) == [1]
    careful = Store(str(tmp_path), verify=True).folder("cora")
    assert careful.hops() == {}
    write_hop(careful, 1, ARRAY, 0)
    assert list(careful.hops()) == [1]


@pytest.mark.parametrize("text", ["{}", "[]", '{"hops": []}', '{"hops": {"one": 1}}', '{"hops": {"1": {}}}'])
def test_a_manifest_of_another_kind_is_no_manifest(store: Store, text: str) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY, 0)
    (folder.path / "manifest.json").write_text(text)
    assert folder.hops() == {}


@pytest.mark.parametrize("name", ["seconds", "products", "checksum", "shape"])
@pytest.mark.parametrize("value", [None, "?"])
def test_a_record_that_lacks_something_is_none(store: Store, name: str, value: object) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY, 0)
    manifest = json.loads((folder.path / "manifest.json").read_text())
    manifest["hops"]["1"][name] = value
    if value is None:
        del manifest["hops"]["1"][name]
    (folder.path / "manifest.json").write_text(json.dumps(manifest))
    assert Store(store.root, verify=True).folder("cora").hops() == {}


def test_a_full_disk_is_reported_and_leaves_nothing(store: Store) -> None:
    """A limit on the size of files stands for the disk that is full."""
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY, 0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(SignError, match="no space on the disk for 4"):
            write_hop(folder, 2, np.zeros((1000, 1000), np.float32), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(folder.hops()) == [1]
    assert sorted(file.name for file in folder.path.iterdir()) == ["hop-1.npy", "manifest.json"]


def test_a_disk_without_room_for_the_header_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(SignError, match=r"hop-1.npy.*: cannot be written \(no space left on device\)"):
        write_hop(store.folder("cora"), 1, ARRAY, 0)


def test_what_a_killed_process_left_behind_is_swept(store: Store) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY, 0)
    (folder.path / ".hop-2.npy.tmp").write_bytes(b"half")
    with folder.locked():
        assert not list(folder.path.glob(".*.tmp"))
    assert list(folder.hops()) == [1]


def test_a_file_without_a_record_does_not_count(store: Store) -> None:
    folder = store.folder("cora")
    folder.path.mkdir(parents=True)
    np.save(folder.path / "hop-1.npy", ARRAY)
    assert folder.hops() == {}


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"hops": {"1": ' + "[" * 5000, '{"hops": {"' + "9" * 5000 + '": {}}}']
)
def test_a_manifest_that_is_not_ours_lists_no_hop(store: Store, text: str) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY)
    (folder.path / "manifest.json").write_text(text)
    assert folder.hops() == {}


@pytest.mark.parametrize("shape", [(10**15, 3), (2**40, 2**40), (10**30, 1), (2, 3)])
def test_a_header_that_declares_more_or_less_than_its_file_is_no_hop(store: Store, shape: tuple[int, int]) -> None:
    folder = store.folder("cora")
    write_hop(folder, 1, ARRAY)
    with folder.file(1).open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
        stream.write(ARRAY.tobytes())
    manifest = json.loads((folder.path / "manifest.json").read_text())
    manifest["hops"]["1"] |= {"shape": shape, "bytes": folder.file(1).stat().st_size}
    (folder.path / "manifest.json").write_text(json.dumps(manifest))
    assert folder.hops() == {}
