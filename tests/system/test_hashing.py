"""Digests depend on content, shape and type of arrays, and on nothing else."""

import numpy as np
import pytest

from sign.system import hashing
from sign.system.hashing import digest


def test_digests_depend_on_content_shape_and_type() -> None:
    array = np.arange(12, dtype=np.float32)
    different = [array, array.reshape(3, 4), array.astype(np.float64), array + 1, array[:11]]
    assert len({digest(each) for each in different}) == len(different)
    assert digest(array.reshape(3, 4).T) == digest(np.ascontiguousarray(array.reshape(3, 4).T))
    assert digest(None, array) != digest(array, None)


def test_every_chunk_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "CHUNK_BYTES", 16)
    array = np.arange(40, dtype=np.int32)
    changed = [array.copy() for _ in array]
    for position, copy in enumerate(changed):
        copy[position] += 1
    swapped = np.concatenate([array[4:8], array[:4], array[8:]])
    assert len({digest(each) for each in (array, swapped, *changed)}) == 42


def test_digests_do_not_change_between_versions() -> None:
    assert digest(np.arange(5), None) == "87263c815d69dcb76dc7ad6421d54e6a"
