"""The folder that the driver and the executors share, on any file system that Spark reads."""

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
    """An array in a file that every executor maps: one copy per machine, whatever the number of tasks."""

    uri: str

    def open(self) -> Array:
        """Return the mapped array, in an executor."""
        if (path := local(self.uri)) is None:
            from pyspark import SparkFiles

            path = Path(SparkFiles.get(self.uri.rpartition("/")[2]))
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]


def open_shared(shared: Shared | None) -> Array | None:
    """Return the array, if there is one."""
    return None if shared is None else shared.open()


def local(uri: str) -> Path | None:
    """Return the path of a ``file:`` address, which all machines must see; None for other addresses."""
    if not uri.startswith("file:"):
        return None
    return Path("/" + uri.removeprefix("file:").lstrip("/"))


@dataclass(frozen=True)
class SharedFolder:
    """A folder for one job, on a file system that ``session`` can access."""

    session: Any
    uri: str

    @classmethod
    @contextmanager
    def new(cls, session: Any, path: str) -> Iterator["SharedFolder"]:
        """Create a folder below ``path`` and remove it afterwards; after SIGKILL, the next job does."""
        shared = cls(session, f"{path.rstrip('/')}/sign-{uuid.uuid4().hex[:12]}")
        folder = local(shared.uri)
        if folder is not None:
            _sweep(folder.parent)
        try:
            with nullcontext() if folder is None else exclusive_lock(folder):
                yield shared
        finally:
            shared.remove("")

    def address(self, name: str) -> str:
        """Return the address of a table."""
        return f"{self.uri}/{name}"

    def table(self, *names: str) -> Any:
        """Return tables as a data frame of Spark."""
        return self.session.read.schema(DDL).parquet(*map(self.address, names))

    @overload
    def share(self, array: Array, name: str) -> Shared: ...

    @overload
    def share(self, array: None, name: str) -> None: ...

    def share(self, array: Array | None, name: str) -> Shared | None:
        """Write an array where executors can map it."""
        if array is None:
            return None
        unique = f"shared/{uuid.uuid4().hex[:12]}-{name}.npy"
        home = self if local(self.uri) is not None else self._lasting()
        with home._writable(unique) as path:
            whole = np.lib.format.open_memmap(path, "w+", array.dtype, array.shape)
            for part in arrays.chunks(array):
                whole[part] = array[part]
                arrays.release(whole[part])
        shared = Shared(home.address(unique))
        if home is not self:
            self.session.sparkContext.addFile(shared.uri)
        return shared

    def _lasting(self) -> "SharedFolder":
        """Return a folder that lives as long as the session: a late executor fetches every file that was added."""
        from sign.engines.spark import session  # only on the driver

        name = f"sign-{self.session.sparkContext.applicationId}"
        folder = SharedFolder(self.session, f"{self.uri.rpartition('/')[0]}/{name}")
        session.cleanup[folder.uri] = partial(folder.remove, "")
        return folder

    @contextmanager
    def tables(self, names: list[str]) -> Iterator[list[Callable[[Record], None]]]:
        """Open tables that the driver writes record by record."""
        with ExitStack() as stack:
            paths = [stack.enter_context(self._writable(f"{name}/part-0.parquet")) for name in names]
            writers = [stack.enter_context(_writer(path)) for path in paths]
            yield [partial(_write, writer) for writer in writers]

    def records(self, name: str) -> Iterator[Record]:
        """Yield the records of a table, on the driver."""
        with self._readable(name) as folder:
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
    def _writable(self, name: str) -> Iterator[Path]:
        """Yield a local path to write to, which is copied to the address afterwards."""
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
    def _readable(self, name: str) -> Iterator[Path]:
        """Yield a local path to read a table from."""
        if (path := local(self.address(name))) is not None:
            yield path
            return
        with tempfile.TemporaryDirectory(dir=memory.scratch_folder()) as folder:
            path = Path(folder) / "table"
            files, _ = self._hadoop()
            files.copyToLocalFile(False, self._hadoop_path(name), self._hadoop_path(str(path), False), True)
            yield path

    def _hadoop(self) -> tuple[Any, Any]:
        """Return Hadoop's file system, and its class of paths."""
        context = self.session.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path
        return path(self.uri).getFileSystem(context._jsc.hadoopConfiguration()), path

    def _hadoop_path(self, name: str, remote: bool = True) -> Any:
        _, path = self._hadoop()
        return path(self.address(name) if remote else f"file:{os.fspath(name)}")


def _sweep(parent: Path) -> None:
    """Remove the folders of killed drivers."""
    for lock in parent.glob(f"sign-*/{LOCK_FILE}"):
        with suppress(OSError), try_lock(lock.parent) as free:
            if free:
                shutil.rmtree(lock.parent, ignore_errors=True)


def _write(writer: Any, record: Record) -> None:
    writer.write_batch(pack(record))


def _writer(path: Path) -> Any:
    """Open a Parquet file; each record is a row group, so that a reader holds one at a time."""
    return parquet.ParquetWriter(path, SCHEMA, compression="none", use_dictionary=False, write_statistics=False)
