"""The store: every hop array on disk once, found again by content, memory-mapped.

``<root>/<dataset>/<fingerprint>/`` is a *chain*: the hops of one operator on one graph, scope and
dtype. ``hop-3.npy`` is a plain numpy array that any tool reads; ``manifest.json`` says what it is. A hop
counts only when the manifest lists it and the file has the recorded size, shape and type (and, with
``verify``, the recorded checksum). Files are written under a temporary name and renamed when they are
durable, so a process that is killed leaves nothing that is taken for whole.
"""

import contextlib
import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import sign
from sign.graph.csr import Array
from sign.system import arrays, locks
from sign.system.hashing import digest
from sign.validation import Validated

FORMAT = 2  # raised when arrays written before could be misread
MANIFEST = "manifest.json"
# what the manifest says of a hop
RECORDED: dict[str, Any] = {
    "shape": list,
    "bytes": int,
    "checksum": str,
    "seconds": (int, float),
    "products": int,
}


@dataclass(frozen=True)
class Chain:
    """The hops of one operator, in one folder."""

    folder: Path
    key: dict[str, Any]
    verify: bool = False

    def hops(self) -> dict[int, dict[str, Any]]:
        """The whole hops in the folder, by power."""
        try:
            recorded = json.loads((self.folder / MANIFEST).read_text())["hops"]
            entries = {int(power): entry for power, entry in recorded.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or not ours
            return {}
        return {power: entry for power, entry in entries.items() if self._is_whole(power, entry)}

    def open(self, power: int) -> Array:
        """The memory-mapped array of a hop that :meth:`hops` lists."""
        return np.load(self._file(power), mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]

    def touch(self) -> None:
        """Note that the chain was used, for whoever frees space later."""
        with contextlib.suppress(OSError):  # a store that can only be read
            os.utime(self.folder / MANIFEST)

    @contextmanager
    def locked(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Be the only process that adds to this chain; ``waiting`` is called if another one is at it."""
        with locks.exclusive_lock(self.folder, waiting):
            for left_behind in self.folder.glob(".*.tmp"):  # by a process that was killed
                left_behind.unlink()
            yield

    def write(self, power: int, array: Array, seconds: float, products: int = 0) -> Array:
        """Add a hop; the caller holds the lock."""
        with self.draft(power, array.shape) as draft:
            draft.array[:] = array
            draft.commit(seconds, products)
        return self.open(power)

    @contextmanager
    def draft(self, power: int, shape: tuple[int, ...]) -> Iterator["Draft"]:
        """A hop to be written part by part; it is gone unless it was committed. The caller holds the lock."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self._temporary(self._file(power))
        try:
            yield Draft(self, power, _create(temporary, shape, self.key["dtype"]))
        finally:
            temporary.unlink(missing_ok=True)

    def _commit(self, power: int, array: Array, seconds: float, products: int) -> None:
        """Record a hop whose temporary file is whole."""
        file, checksum = self._file(power), digest(array)
        array.flush()  # type: ignore[attr-defined]
        self._publish(file)
        entry = {
            "shape": list(array.shape),
            "bytes": file.stat().st_size,
            "checksum": checksum,
            "seconds": round(seconds, 6),
            "products": products,
            "versions": {"sign": sign.__version__, "numpy": np.__version__},
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        self._record({**self.hops(), power: entry})

    def _record(self, hops: dict[int, dict[str, Any]]) -> None:
        """Write the manifest."""
        manifest = {**self.key, "hops": {str(power): entry for power, entry in sorted(hops.items())}}
        file = self.folder / MANIFEST
        text = json.dumps(manifest, indent=2) + "\n"
        try:
            self._temporary(file).write_text(text)
            self._publish(file)
        except OSError as error:
            if error.errno not in arrays.DISK_FULL:
                raise
            raise arrays.disk_full(file, len(text)) from error
        finally:
            self._temporary(file).unlink(missing_ok=True)

    def _publish(self, file: Path) -> None:
        """Give a temporary file its name, once it is on disk."""
        temporary = self._temporary(file)
        _sync(temporary)
        temporary.replace(file)
        _sync(self.folder)

    def _temporary(self, file: Path) -> Path:
        return file.with_name(f".{file.name}.tmp")

    def _file(self, power: int) -> Path:
        return self.folder / f"hop-{power}.npy"

    def _is_whole(self, power: int, entry: dict[str, Any]) -> bool:
        """Whether the file is what was recorded."""
        try:
            if not all(isinstance(entry[name], kind) for name, kind in RECORDED.items()):
                return False
            if self._file(power).stat().st_size != entry["bytes"]:
                return False
            array = self.open(power)
            if list(array.shape) != entry["shape"] or array.dtype != self.key["dtype"]:
                return False
            return not self.verify or self.is_intact(power, entry)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def is_intact(self, power: int, entry: dict[str, Any]) -> bool:
        """Whether the array has the checksum that was recorded."""
        return bool(digest(self.open(power)) == entry["checksum"])


@dataclass(frozen=True)
class Draft:
    """A hop that is being written, as an array in a temporary file."""

    chain: Chain
    power: int
    array: Array

    def commit(self, seconds: float, products: int) -> float:
        """All is written: make it a hop. Returns the seconds that it took."""
        self.chain._commit(self.power, self.array, seconds, products)
        return seconds


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def _create(file: Path, shape: tuple[int, ...], dtype: str) -> Array:
    """A new ``.npy`` file whose bytes are reserved, as a memory map."""
    with file.open("wb") as stream:
        header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        size = stream.tell() + math.prod(shape) * np.dtype(dtype).itemsize
        stream.flush()
        arrays.reserve(stream.fileno(), size, file)
    return np.load(file, mmap_mode="r+", allow_pickle=False)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Store(Validated):
    """A folder of chains. ``verify`` compares checksums, not only sizes, before a hop is used.

    ``rows``: hops have a row for each node that some split uses, or for ``all`` nodes, from which a higher
    power can start.
    """

    root: str
    dtype: Literal["float32", "float16"] = "float32"
    rows: Literal["used", "all"] = "used"
    verify: bool = False

    def chain(self, dataset: str, **key: Any) -> Chain:
        """The chain whose content is described by ``key``."""
        full = {"format": FORMAT, "dtype": self.dtype, **key}
        canonical = json.dumps(full, sort_keys=True).encode()
        fingerprint = hashlib.blake2b(canonical, digest_size=8).hexdigest()
        return Chain(Path(self.root) / dataset / fingerprint, full, self.verify)
