"""The store: every hop array on disk once, found again by content, memory-mapped.

``<root>/<dataset>/<fingerprint>/`` is a *hop folder*: the hops of one operator on one graph, scope and dtype.
``hop-3.npy`` is a plain numpy array, in place of which a sparse hop has three (:mod:`sign.store.sparse_hops`);
``manifest.json`` describes it. A hop counts only if the manifest lists it and its files have the recorded size, shape
and type (and, with ``verify``, the recorded checksum). Files are written under a temporary name and renamed once they
are durable, so a killed process leaves nothing that is taken for complete.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

import sign
from sign.errors import SignError
from sign.graph.csr import Array
from sign.graph.features import Features, SparseFeatures
from sign.store import sparse_hops
from sign.store.folder import FORMAT, MANIFEST, StoreFolder, create_array, fingerprint, write_manifest
from sign.system import arrays
from sign.system.atomic_files import publish, temporary_file
from sign.system.hashing import digest
from sign.system.json_files import read_json
from sign.validation import Validated

LEARNED = "learned"  # the scope of parameters that an operator learned, which are stored as hops are
NODE_DIGESTS = "node_digests"  # the file, and the field of a hop that was computed from rows with these digests
# fields of a hop in the manifest, and their types
RECORDED: dict[str, Any] = {"shape": list, "bytes": int, "checksum": str, "seconds": (int, float), "products": int}


@dataclass(frozen=True)
class HopFolder(StoreFolder):
    """The hops of one operator on one scope, described by ``key``."""

    def hops(self) -> dict[int, dict[str, Any]]:
        """Return what the manifest records of each complete hop, by power."""
        try:
            recorded = read_json(self.path / MANIFEST)["hops"]
            entries = {int(power): entry for power, entry in recorded.items()}
        except (SignError, ValueError, KeyError, TypeError, AttributeError):  # none, or not ours
            return {}
        return {power: entry for power, entry in entries.items() if self._is_complete(power, entry)}

    def open(self, power: int) -> Features:
        """Return the memory-mapped array of a hop that :meth:`hops` lists."""
        return self._open(power, read_json(self.path / MANIFEST)["hops"][str(power)])

    def _open(self, power: int, entry: dict[str, Any]) -> Features:
        if sparse_hops.ENTRIES in entry:
            return sparse_hops.open_parts(self.file(power), entry["shape"][1])
        return arrays.open_npy(self.file(power))

    def checksum(self, power: int) -> str:
        """Return the recorded hash of the content of a hop that :meth:`hops` lists."""
        return str(read_json(self.path / MANIFEST)["hops"][str(power)]["checksum"])

    def file(self, power: int) -> Path:
        """Return the path of a dense hop."""
        return self.path / f"hop-{power}.npy"

    def files(self, power: int, entry: dict[str, Any]) -> list[Path]:
        """Return the paths of a hop."""
        file = self.file(power)
        return sparse_hops.part_files(file) if sparse_hops.ENTRIES in entry else [file]

    def operator_text(self) -> str | None:
        """Return the operator as text, such as ``ppr(method=solve, …)``; None for the features."""
        if (operator := self.key["operator"]) is None:
            return None
        return f"{operator['name']}({', '.join(f'{k}={v}' for k, v in operator.items() if k != 'name')})"

    @contextmanager
    def draft(self, power: int, shape: tuple[int, ...]) -> Iterator["Draft"]:
        """Create a hop that is written in parts; it is deleted unless it is committed. The caller holds the lock."""
        self.path.mkdir(parents=True, exist_ok=True)
        temporary = temporary_file(self.file(power))
        try:
            yield Draft(self, power, create_array(temporary, shape, self.key["dtype"]))
        finally:
            temporary.unlink(missing_ok=True)

    def node_digests(self) -> Array | None:
        """Return the hashes of the nodes that some hop was stored with, if they are there and intact."""
        recorded = {entry.get(NODE_DIGESTS) for entry in self.hops().values()}
        try:
            digests = arrays.open_npy(self.path / f"{NODE_DIGESTS}.npy")
        except (OSError, ValueError):
            return None
        return digests if digest(digests) in recorded else None

    def _write_node_digests(self, digests: Array) -> str:
        """Write the hashes of the nodes, unless another hop has them, and return their checksum."""
        checksum = digest(digests)
        if checksum not in (entry.get(NODE_DIGESTS) for entry in self.hops().values()):
            file = self.path / f"{NODE_DIGESTS}.npy"
            try:
                create_array(temporary_file(file), digests.shape, str(digests.dtype))[:] = digests
                publish(file)
            finally:
                temporary_file(file).unlink(missing_ok=True)
        return checksum

    def is_intact(self, power: int, entry: dict[str, Any]) -> bool:
        """Return whether the array has the recorded checksum."""
        return _checksum(self._open(power, entry)) == str(entry["checksum"])

    def _record(self, power: int, entry: dict[str, Any]) -> None:
        """Add a hop to the manifest."""
        hops = sorted({**self.hops(), power: entry}.items())
        write_manifest(self.path / MANIFEST, {**self.key, "hops": {str(number): hop for number, hop in hops}})

    def _is_complete(self, power: int, entry: dict[str, Any]) -> bool:
        """Return whether the file is what was recorded."""
        try:
            if not all(isinstance(entry[name], kind) for name, kind in RECORDED.items()):
                return False
            if sum(file.stat().st_size for file in self.files(power, entry)) != entry["bytes"]:
                return False
            array = self._open(power, entry)
            if list(array.shape) != entry["shape"] or array.dtype != self.key["dtype"]:
                return False
            return not self.verify or self.is_intact(power, entry)
        except (OSError, ValueError, KeyError, TypeError):
            return False


@dataclass
class Draft:
    """A hop that is being written, as an array in a temporary file.

    It is refused if the type of the store cannot hold it: if a value is not finite, or if the largest is below the
    normal range of the type, where precision is lost. Smaller values beside larger ones are harmless.
    """

    folder: HopFolder
    power: int
    array: Array
    largest: float = 0.0  # magnitude so far, before rounding
    entries: int = 0  # values so far that are not zero, before rounding

    def write(self, rows: slice | Array, values: Array, columns: slice = slice(None)) -> None:
        """Write some rows and columns, rounded to the type of the store, and release their memory.

        Raises
        ------
        SignError
            If a value is not finite in that type.
        """
        if values.size:
            largest = np.abs(np.array([values.min(), values.max()])).max()  # nan if one value is
            with np.errstate(over="ignore"):
                if not np.isfinite(largest.astype(self.array.dtype)):
                    raise self._error("some values are not finite")
                self.array[rows, columns] = values
            self.largest = max(self.largest, float(largest))
            self.entries += int(np.count_nonzero(values))
            arrays.release(self.array[rows] if isinstance(rows, slice) else self.array)

    def commit(self, seconds: float, products: int, node_digests: Array | None = None) -> None:
        """Make the complete array a hop: rename its file, then record it in the manifest.

        ``node_digests`` are hashes of all nodes and of what their rows are computed from. They are stored with the
        hop if its rows may be copied to another version of the graph.

        Raises
        ------
        SignError
            If all values are too small for the type of the store.
        """
        normal = float(np.finfo(self.array.dtype).smallest_normal)
        if 0 < self.largest < normal:
            raise self._error(f"the largest value is {self.largest:.1g}, and below {normal:.1g} precision is lost")
        entry = self._publish() | {
            "shape": list(self.array.shape),
            "seconds": round(seconds, 6),
            "products": products,
            "versions": {"sign": sign.__version__, "numpy": np.__version__},
            "written": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        if node_digests is not None:
            entry[NODE_DIGESTS] = self.folder._write_node_digests(node_digests)
        self.folder._record(self.power, entry)

    def _publish(self) -> dict[str, Any]:
        """Write the final files, dense or sparse; return what is recorded of their content."""
        file, entry = self.folder.file(self.power), dict[str, Any]()
        if sparse_hops.stays_sparse(self.array, self.entries):
            sparse = sparse_hops.write(file, self.array)
            entry |= {"checksum": sparse.digest, sparse_hops.ENTRIES: len(sparse.indices)}
        else:
            entry["checksum"] = digest(self.array)
            self.array.flush()  # type: ignore[attr-defined]
            publish(file)
        return entry | {"bytes": sum(part.stat().st_size for part in self.folder.files(self.power, entry))}

    def _error(self, problem: str) -> SignError:
        what, dtype = self.folder.operator_text() or "the features", self.array.dtype
        return SignError(f"{what}: {problem} in {dtype}, the type of the store; {remedy(str(dtype))}")


def _checksum(array: Features) -> str:
    return array.digest if isinstance(array, SparseFeatures) else digest(array)


def remedy(dtype: str) -> str:
    """Return what to do about values that a type cannot hold."""
    scale = "scale the features (scaling.features=standardize or row_sum)"
    return scale if dtype == "float32" else f"use store.dtype=float32, or {scale}"


@dataclass(frozen=True)
class Store(Validated):
    """Hop folders below ``root``, by data set and fingerprint.

    Hops have type ``dtype`` and one row per node that some split uses, or with ``rows="all"`` per node, from which
    higher powers can be computed. With ``verify``, checksums are compared before a hop is used, not only sizes.
    """

    root: str
    dtype: Literal["float32", "float16"] = "float32"
    rows: Literal["used", "all"] = "used"
    verify: bool = False

    def folder(self, dataset: str, **key: Any) -> HopFolder:
        """Return the folder of the hops that ``key`` describes."""
        full = {"format": FORMAT, "dtype": self.dtype, **key}
        return HopFolder(Path(self.root) / dataset / fingerprint(full), full, self.verify)
