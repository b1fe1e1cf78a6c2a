"""The store: every hop array on disk once, found again by content, memory-mapped.

``<root>/<dataset>/<fingerprint>/`` is a *chain*: the hops of one operator on one graph, scope and
dtype. ``hop-3.npy`` is a plain numpy array that any tool reads; ``manifest.json`` says what it is. A hop
counts only when the manifest lists it and the file has the recorded size, shape and type (and, with
``verify``, the recorded checksum). Files are written under a temporary name and renamed when they are
durable, so a process that is killed leaves nothing that is taken for whole.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import sign
from sign import memory
from sign.errors import SignError
from sign.settings import Checked
from sign.sparse import Array, digest

FORMAT = 1  # raised when arrays written before could be misread
MANIFEST = "manifest.json"


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

    @contextmanager
    def locked(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Be the only process that adds to this chain; ``waiting`` is called if another one is at it.

        The system frees the lock of a process that ends in whatever way.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            for left_behind in self.folder.glob(".*.tmp"):  # by a process that was killed
                left_behind.unlink()
            yield

    def write(self, power: int, array: Array, seconds: float, products: int = 0) -> Array:
        """Add a hop; the caller holds the lock."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stored = array.astype(self.key["dtype"], copy=False)
        with self._durable(self._file(power), stored.nbytes) as stream:
            np.save(stream, stored, allow_pickle=False)
        entry = {
            "shape": list(stored.shape),
            "bytes": self._file(power).stat().st_size,
            "checksum": digest(stored),
            "seconds": round(seconds, 6),
            "products": products,
            "versions": {"sign": sign.__version__, "numpy": np.__version__},
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        hops = {str(k): v for k, v in sorted({**self.hops(), power: entry}.items())}
        manifest = json.dumps({**self.key, "hops": hops}, indent=2) + "\n"
        with self._durable(self.folder / MANIFEST, len(manifest)) as stream:
            stream.write(manifest.encode())
        return self.open(power)

    @contextmanager
    def _durable(self, file: Path, size: int) -> Iterator[Any]:
        """A stream to a temporary name, which becomes ``file`` once it is on disk, whole."""
        temporary = self.folder / f".{file.name}.tmp"
        try:
            with temporary.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(file)
            folder = os.open(self.folder, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            # numpy reports a short write without the system's error number
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, None):
                raise
            free = memory.readable(shutil.disk_usage(self.folder).free)
            raise SignError(
                f"{file}: no room on the disk for {memory.readable(size)} ({free} are free); "
                "free some, or set paths.store_dir to another disk"
            ) from error
        finally:
            temporary.unlink(missing_ok=True)

    def _file(self, power: int) -> Path:
        return self.folder / f"hop-{power}.npy"

    def _is_whole(self, power: int, entry: dict[str, Any]) -> bool:
        """Whether the file is what was recorded."""
        try:
            if self._file(power).stat().st_size != entry["bytes"]:
                return False
            array = self.open(power)
            if list(array.shape) != entry["shape"] or array.dtype != self.key["dtype"]:
                return False
            return not self.verify or digest(array) == entry["checksum"]
        except (OSError, ValueError, KeyError, TypeError):
            return False


@dataclass(frozen=True)
class Store(Checked):
    """A folder of chains. ``verify`` compares checksums, not only sizes, before a hop is used."""

    root: str
    dtype: Literal["float32", "float16"] = "float32"
    verify: bool = False

    def chain(self, dataset: str, **key: Any) -> Chain:
        """The chain whose content is described by ``key``."""
        full = {"format": FORMAT, "dtype": self.dtype, **key}
        canonical = json.dumps(full, sort_keys=True).encode()
        fingerprint = hashlib.blake2b(canonical, digest_size=8).hexdigest()
        return Chain(Path(self.root) / dataset / fingerprint, full, self.verify)
