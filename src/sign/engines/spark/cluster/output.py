"""Folders that executors write: under a temporary name, which is changed once all files are complete."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sign.engines.spark.cluster.tables import uri_of
from sign.errors import SignError


def check_new(session: Any, setting: str, path: str) -> None:
    """Raise :class:`SignError` unless a folder to write to is new or empty."""
    files, at = _hadoop(session, uri_of(path))
    if files.exists(at) and (files.getFileStatus(at).isFile() or files.listStatus(at)):
        raise SignError(f"{setting}={path}: is not empty; choose a new folder")


@contextmanager
def new_output(session: Any, setting: str, path: str) -> Iterator[str]:
    """Yield the address of a temporary folder beside ``path``, which takes its name only if the block succeeds."""
    check_new(session, setting, path)
    final = uri_of(path).rstrip("/")
    parent, _, name = final.rpartition("/")
    temporary = f"{parent}/_{name}-{uuid.uuid4().hex[:8]}.tmp"
    files, at = _hadoop(session, temporary)
    try:
        yield temporary
        _, target = _hadoop(session, final)
        files.delete(target, False)  # an empty folder
        if not files.rename(at, target):
            raise SignError(f"{setting}={path}: cannot be written; choose another folder")
    finally:
        files.delete(at, True)


def write_text(session: Any, address: str, text: str) -> None:
    """Write a small text file."""
    files, at = _hadoop(session, address)
    stream = files.create(at)
    try:
        stream.write(bytearray(text.encode()))
    finally:
        stream.close()


def _hadoop(session: Any, address: str) -> tuple[Any, Any]:
    """Return Hadoop's file system for an address, and its path."""
    context = session.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(address)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path
