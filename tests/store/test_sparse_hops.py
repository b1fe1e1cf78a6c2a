"""Hops of which few values are not zero: stored in less space, with the same values."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from common.store import write_hop
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sign.graph import features
from sign.graph.features import SparseFeatures
from sign.store import maintenance
from sign.store.sparse_hops import part_files
from sign.store.store import HopFolder, Store

WORDS = np.zeros((60, 5), np.float32)
WORDS[np.arange(30), np.arange(30) % 5] = np.arange(1, 31)


@pytest.fixture(autouse=True)
def small_arrays_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "MIN_BYTES", 0)


@pytest.fixture
def folder(tmp_path: Path) -> HopFolder:
    folder = Store(str(tmp_path)).folder("cora", operator=None, scope="full", rows=None)
    write_hop(folder, 0, WORDS)
    return folder


def test_a_hop_of_few_values_is_three_plain_arrays(folder: HopFolder) -> None:
    indptr, indices, values = map(np.load, part_files(folder.file(0)))
    assert not folder.file(0).exists()
    assert (values == WORDS[WORDS != 0]).all()
    assert (indices == WORDS.nonzero()[1]).all()
    assert (np.diff(indptr) == (WORDS != 0).sum(axis=1)).all()
    entry = folder.hops()[0]
    assert entry["bytes"] == sum(file.stat().st_size for file in part_files(folder.file(0)))
    assert isinstance(folder.open(0), SparseFeatures)


@given(
    arrays(np.float32, st.tuples(st.integers(1, 30), st.integers(1, 12)), elements=st.sampled_from([0.0] * 9 + [2.5])),
    st.sampled_from(["float32", "float16"]),
)
def test_sparse_or_dense_it_has_the_values_that_were_written(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray, dtype: str
) -> None:
    folder = Store(str(tmp_path_factory.mktemp("store")), dtype=dtype, verify=True).folder("cora")  # type: ignore[arg-type]
    hop = write_hop(folder, 3, array)
    assert list(folder.hops()) == [3]
    assert hop.dtype == dtype
    assert (hop[:] == array).all()
    few = array.shape[1] <= np.count_nonzero(array) <= features.MAX_DENSITY * array.size
    assert isinstance(hop, SparseFeatures) == few


def cut_off(folder: HopFolder) -> None:
    file = part_files(folder.file(0))[1]
    file.write_bytes(file.read_bytes()[:-1])


def name_a_column_too_many(folder: HopFolder) -> None:
    file = part_files(folder.file(0))[1]
    indices = np.load(file)
    indices[3] = 5
    np.save(file, indices)


def declare_columns(folder: HopFolder) -> None:
    manifest = json.loads((folder.path / "manifest.json").read_text())
    manifest["hops"]["0"]["shape"][1] = 1_000_000_000
    (folder.path / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("harm", [cut_off, name_a_column_too_many, declare_columns])
def test_a_damaged_hop_is_not_taken_for_whole(folder: HopFolder, harm: Callable[[HopFolder], None]) -> None:
    harm(folder)
    assert folder.hops() == {}
    write_hop(folder, 0, WORDS)
    assert (folder.open(0)[:] == WORDS).all()


def test_altered_values_are_found_and_removed(folder: HopFolder, tmp_path: Path) -> None:
    files = part_files(folder.file(0))
    files[2].write_bytes(files[2].read_bytes()[:-1] + b"x")
    assert list(folder.hops()) == [0]
    assert maintenance.verify(tmp_path) == (1, files)
    assert maintenance.prune(tmp_path, None, damaged=True, dry_run=False).removed == files
    assert folder.hops() == {}


def test_whole_files_are_no_leftovers_and_others_are(folder: HopFolder, tmp_path: Path) -> None:
    assert maintenance.prune(tmp_path, None, damaged=True, dry_run=True).removed == []
    other = folder.path / "hop-7-indices.npy"
    other.write_bytes(b"?")
    assert maintenance.prune(tmp_path, None, damaged=False, dry_run=False).removed == [other]
