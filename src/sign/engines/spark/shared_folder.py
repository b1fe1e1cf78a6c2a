"""The folder that driver and executors share, on any file system that Spark reads."""

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow.parquet as parquet

from sign.engines.spark.records import DDL, SCHEMA, Record, pack, unpack
from sign.graph.csr import Array
from sign.system import arrays, memory
from sign.system.locks import LOCK_FILE, exclusive_lock, try_lock


@dataclass(frozen=True)
class Shared:
    """An array in a file that every executor maps, one copy a machine whatever the number of tasks."""

    uri: str

    def open(self) -> Array:
        """The mapped array, in an executor."""
        if (path := local(self.uri)) is None:
            from pyspark import SparkFiles

            path = Path(SparkFiles.get(self.uri.rpartition("/")[2]))
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]


def open_shared(shared: Shared | None) -> Array | None:
    """The array, where there is one."""
    return None if shared is None else shared.open()


def local(uri: str) -> Path | None:
    """The path of a ``file:`` address, which all machines are to see; None for other ones."""
    if not uri.startswith("file:"):
        return None
    return Path("/" + uri.removeprefix("file:").lstrip("/"))


@dataclass(frozen=True)
class Place:
    """A new folder for one job; ``session`` knows how to reach it."""

    session: Any
    uri: str

    @classmethod
    @contextmanager
    def new(cls, session: Any, path: str) -> Iterator["Place"]:
        """A folder below ``path`` that is gone afterwards; on this machine's files, even after a SIGKILL."""
        place = cls(session, f"{path.rstrip('/')}/sign-{uuid.uuid4().hex[:12]}")
        folder = local(place.uri)
        if folder is not None:
            _sweep(folder.parent)
        try:
            with nullcontext() if folder is None else exclusive_lock(folder):
                yield place
        finally:
            place.remove("")

    def address(self, name: str) -> str:
        """Where a table is."""
        return f"{self.uri}/{name}"

    def table(self, *names: str) -> Any:
        """Tables as a data frame of Spark."""
        return self.session.read.schema(DDL).parquet(*map(self.address, names))

    @overload
    def share(self, array: Array, name: str) -> Shared: ...

    @overload
    def share(self, array: None, name: str) -> None: ...

    def share(self, array: Array | None, name: str) -> Shared | None:
        """Put an array where executors can map it."""
        if array is None:
            return None
        unique = f"shared/{uuid.uuid4().hex[:12]}-{name}.npy"
        home = self if local(self.uri) is not None else self._lasting()
        with home._arriving(unique) as path:
            whole = np.lib.format.open_memmap(path, "w+", array.dtype, array.shape)
            for part in arrays.chunks(array):
                whole[part] = array[part]
                arrays.release(whole[part])
        shared = Shared(home.address(unique))
        if home is not self:
            self.session.sparkContext.addFile(shared.uri)
        return shared

    def _lasting(self) -> "Place":
        """A folder for as long as the session: an executor that comes late asks for every file that was added."""
        from sign.engines.spark import session  # of the driver alone

        name = f"sign-{self.session.sparkContext.applicationId}"
        place = Place(self.session, f"{self.uri.rpartition('/')[0]}/{name}")
        session.leaving[place.uri] = partial(place.remove, "")
        return place

    @contextmanager
    def tables(self, names: list[str]) -> Iterator[list[Callable[[Record], None]]]:
        """Tables that the driver writes, record by record."""
        with ExitStack() as stack:
            paths = [stack.enter_context(self._arriving(f"{name}/part-0.parquet")) for name in names]
            writers = [stack.enter_context(_writer(path)) for path in paths]
            yield [partial(_write, writer) for writer in writers]

    def records(self, name: str) -> Iterator[Record]:
        """The records of a table, read by the driver."""
        with self._arrived(name) as folder:
            for file in sorted(folder.glob("*.parquet")):
                with parquet.ParquetFile(file, memory_map=True) as opened:
                    for batch in opened.iter_batches(batch_size=1):
                        yield from unpack(batch)

    def remove(self, name: str) -> None:
        """Delete a table, or all of them."""
        if (path := local(self.address(name))) is not None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            self._hadoop()[0].delete(self._hadoop_path(name), True)

    @contextmanager
    def _arriving(self, name: str) -> Iterator[Path]:
        """A path to write to; what is there afterwards is at the address."""
        if (path := local(self.address(name))) is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            yield path
            return
        with tempfile.TemporaryDirectory(dir=memory.scratch_folder()) as folder:
            path = Path(folder) / name.rpartition("/")[2]
            yield path
            files, _ = self._hadoop()
            files.copyFromLocalFile(self._hadoop_path(str(path), False), self._hadoop_path(name))

    @contextmanager
    def _arrived(self, name: str) -> Iterator[Path]:
        """A path to read a table from."""
        if (path := local(self.address(name))) is not None:
            yield path
            return
        with tempfile.TemporaryDirectory(dir=memory.scratch_folder()) as folder:
            path = Path(folder) / "table"
            files, _ = self._hadoop()
            files.copyToLocalFile(False, self._hadoop_path(name), self._hadoop_path(str(path), False), True)
            yield path

    def _hadoop(self) -> tuple[Any, Any]:
        """Spark's own access to the file system, and its class of paths."""
        context = self.session.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path
        return path(self.uri).getFileSystem(context._jsc.hadoopConfiguration()), path

    def _hadoop_path(self, name: str, remote: bool = True) -> Any:
        _, path = self._hadoop()
        return path(self.address(name) if remote else f"file:{os.fspath(name)}")


def _sweep(parent: Path) -> None:
    """Remove what drivers left that were killed."""
    for lock in parent.glob(f"sign-*/{LOCK_FILE}"):
        with suppress(OSError), try_lock(lock.parent) as free:
            if free:
                shutil.rmtree(lock.parent, ignore_errors=True)


def _write(writer: Any, record: Record) -> None:
    writer.write_batch(pack(record))


def _writer(path: Path) -> Any:
    """Each record is a row group, so that a reader holds one at a time."""
    return parquet.ParquetWriter(
        path, SCHEMA, compression="none", use_dictionary=False, write_statistics=False
    )
