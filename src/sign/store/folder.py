"""A folder of the store: named by its key, locked for writing, with arrays that a manifest records."""

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sign.graph.csr import Array
from sign.system import arrays, locks
from sign.system.atomic_files import is_disk_full, write_errors, write_json

FORMAT = 3  # increased when folders written before could be misread
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class StoreFolder:
    """A folder whose content ``key`` describes; with ``verify``, checksums are compared before an array is used."""

    path: Path
    key: dict[str, Any]
    verify: bool = False

    def touch(self) -> None:
        """Record the time of use, by which unused folders are pruned."""
        with contextlib.suppress(OSError):  # a read-only store
            os.utime(self.path / MANIFEST)

    def last_use(self) -> float:
        """Return the time of the last use, in seconds since the epoch; 0 if the folder is gone."""
        try:
            return (self.path / MANIFEST).stat().st_mtime
        except OSError:
            return 0.0

    @contextmanager
    def locked(self, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Hold the exclusive lock for writing; call ``on_wait`` before waiting for another process."""
        with ExitStack() as stack:
            with write_errors(self.path, "paths.store_dir"):
                stack.enter_context(locks.exclusive_lock(self.path, on_wait))
            for abandoned in self.path.glob(".*.tmp"):  # by a killed process
                abandoned.unlink()
            yield


def fingerprint(key: Mapping[str, Any]) -> str:
    """Return the hash of a key that names its folder."""
    return hashlib.blake2b(json.dumps(key, sort_keys=True).encode(), digest_size=8).hexdigest()


def write_manifest(file: Path, content: Mapping[str, Any]) -> None:
    """Write a manifest atomically and durably.

    Raises
    ------
    SignError
        If the disk is full.
    """
    try:
        write_json(file, content, durable=True)
    except OSError as error:
        if not is_disk_full(error):
            raise
        raise arrays.disk_full(file, len(json.dumps(content))) from error


def create_array(file: Path, shape: tuple[int, ...], dtype: str) -> Array:
    """Create an ``.npy`` file with reserved disk space, and return it as a memory map."""
    with write_errors(file, "paths.store_dir"), file.open("wb") as stream:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        size = stream.tell() + math.prod(shape) * np.dtype(dtype).itemsize
        stream.flush()
        arrays.reserve(stream.fileno(), size, file)
    return np.load(file, mmap_mode="r+", allow_pickle=False)  # type: ignore[no-any-return]
