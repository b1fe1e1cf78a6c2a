"""The store: every hop array on disk once, found again by content, memory-mapped.

``<root>/<dataset>/<fingerprint>/`` is a *chain*: the hops of one operator on one graph, scope and
dtype. ``hop-3.npy`` is a plain numpy array that any tool reads; ``manifest.json`` says what it is. A hop
counts only when the manifest lists it with the size that the file has.
"""

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sign.settings import Checked
from sign.sparse import Array

FORMAT = 1  # raised when arrays written before could be misread


@dataclass(frozen=True)
class Chain:
    """The hops of one operator, in one folder."""

    folder: Path
    key: dict[str, Any]

    def hops(self) -> dict[int, dict[str, Any]]:
        """The whole hops in the folder, by power."""
        try:
            recorded = json.loads((self.folder / "manifest.json").read_text())["hops"]
            entries = {int(power): entry for power, entry in recorded.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or not ours
            return {}
        return {power: entry for power, entry in entries.items() if self._is_whole(power, entry)}

    def open(self, power: int) -> Array:
        """The memory-mapped array of a hop that :meth:`hops` lists."""
        return np.load(self._file(power), mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]

    def write(self, power: int, array: Array, seconds: float, products: int = 0) -> Array:
        """Write a hop under a temporary name, make it durable, then give it its name."""
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f".hop-{power}.{os.getpid()}.npy"
        try:
            with temporary.open("wb") as stream:
                np.save(stream, array.astype(self.key["dtype"], copy=False), allow_pickle=False)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(self._file(power))
        finally:
            temporary.unlink(missing_ok=True)
        entry = {
            "shape": list(array.shape),
            "bytes": self._file(power).stat().st_size,
            "seconds": round(seconds, 6),
            "products": products,
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        self._record(power, entry)
        return self.open(power)

    def _record(self, power: int, entry: dict[str, Any]) -> None:
        hops = {str(k): v for k, v in sorted({**self.hops(), power: entry}.items())}
        manifest = {**self.key, "hops": hops}
        temporary = self.folder / f".manifest.{os.getpid()}.json"
        temporary.write_text(json.dumps(manifest, indent=2) + "\n")
        temporary.replace(self.folder / "manifest.json")

    def _file(self, power: int) -> Path:
        return self.folder / f"hop-{power}.npy"

    def _is_whole(self, power: int, entry: dict[str, Any]) -> bool:
        """Whether the file has the size, shape and type that were recorded."""
        try:
            if self._file(power).stat().st_size != entry["bytes"]:
                return False
            array = self.open(power)
            return bool(list(array.shape) == entry["shape"] and array.dtype == self.key["dtype"])
        except (OSError, ValueError, KeyError, TypeError):
            return False


@dataclass(frozen=True)
class Store(Checked):
    """A folder of chains."""

    root: str
    dtype: Literal["float32", "float16"] = "float32"

    def chain(self, dataset: str, **key: Any) -> Chain:
        """The chain whose content is described by ``key``."""
        full = {"format": FORMAT, "dtype": self.dtype, **key}
        canonical = json.dumps(full, sort_keys=True).encode()
        fingerprint = hashlib.blake2b(canonical, digest_size=8).hexdigest()
        return Chain(Path(self.root) / dataset / fingerprint, full)
