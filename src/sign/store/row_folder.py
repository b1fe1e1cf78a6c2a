"""Row files: the rows of one split with all hops of a node side by side, which training reads in large pieces.

A row file is a copy of stored hops in another order. It has a folder of its own beside them, ``rows.npy`` with a
manifest, whose name covers the content of the hops, the rows, their order and type.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.graph.csr import Array
from sign.store.folder import FORMAT, MANIFEST, StoreFolder, create_array, fingerprint, write_manifest
from sign.system import arrays
from sign.system.atomic_files import publish, temporary_file
from sign.system.hashing import digest
from sign.system.json_files import read_json

ROWS = "rows.npy"
KIND = "rows"  # tells the key of a row file from that of hops


@dataclass(frozen=True)
class RowFolder(StoreFolder):
    """A row file, described by ``key``."""

    @classmethod
    def of(cls, root: Path, verify: bool = False, **key: Any) -> "RowFolder":
        """Return the folder of the row file that ``key`` describes; ``root`` is the store's folder of the data set."""
        full = {"format": FORMAT, "kind": KIND, **key}
        return cls(root / fingerprint(full), full, verify)

    @property
    def file(self) -> Path:
        """The row file."""
        return self.path / ROWS

    def entry(self) -> dict[str, Any] | None:
        """Return what the manifest records of the row file; None unless it is complete."""
        try:
            entry: dict[str, Any] = read_json(self.path / MANIFEST)[KIND]
            array = arrays.open_npy(self.file)
            complete = array.nbytes == entry["bytes"] and list(array.shape) == entry["shape"]
            complete = complete and array.dtype == self.key["dtype"] and isinstance(entry["checksum"], str)
        except (SignError, OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return entry if complete and (not self.verify or self.is_intact(entry)) else None

    def is_intact(self, entry: dict[str, Any]) -> bool:
        """Return whether the rows have the recorded checksum."""
        return bool(digest(arrays.open_npy(self.file)) == entry["checksum"])

    @contextmanager
    def draft(self, shape: tuple[int, int]) -> Iterator[Array]:
        """Create the row file as an array that the block fills; it is complete when the block ends without an error.

        The caller holds the lock.
        """
        temporary = temporary_file(self.file)
        try:
            array = create_array(temporary, shape, self.key["dtype"])
            yield array
            checksum = digest(array)
            array.flush()  # type: ignore[attr-defined]
            publish(self.file)
            entry = {"shape": list(shape), "bytes": array.nbytes, "checksum": checksum}
            write_manifest(self.path / MANIFEST, {**self.key, KIND: entry})
        finally:
            temporary.unlink(missing_ok=True)
