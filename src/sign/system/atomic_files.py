"""Atomic file writes and unique folders."""

import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sign.errors import SignError, reason

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def create_unique_folder(parent: Path, name: str) -> Path:
    """Create a folder that no other process uses; ``-1``, ``-2``, … is appended to a name that exists."""
    attempt = 0
    while True:
        folder = parent / (f"{name}-{attempt}" if attempt else name)
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            attempt += 1


def write_json(file: Path, content: Mapping[str, Any], durable: bool = False) -> None:
    """Write a JSON object atomically."""
    write_text(file, json.dumps(content, indent=2) + "\n", durable)


def write_text(file: Path, text: str, durable: bool = False) -> None:
    """Write a text file atomically; see :func:`write_bytes`."""
    write_bytes(file, text.encode(), durable)


def write_bytes(file: Path, content: bytes | memoryview, durable: bool = False) -> None:
    """Write a file atomically: readers see the previous content or the new one.

    With ``durable``, the new content is on disk when the function returns.
    """
    temporary = temporary_file(file)
    try:
        temporary.write_bytes(content)
        if durable:
            publish(file)
        else:
            temporary.replace(file)
    except OSError as error:
        error.filename = str(file)  # a failed write names no file, and others name the temporary one
        raise
    finally:
        temporary.unlink(missing_ok=True)


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised from, is that of a full disk."""
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return True
    return error is not None and is_disk_full(error.__cause__)


@contextmanager
def write_errors(path: Path, setting: str) -> Iterator[None]:
    """Turn errors of writing a file, or to a folder, into one message; ``setting`` is where the folder is set."""
    try:
        yield
    except OSError as error:
        raise SignError(
            f"{error.filename or path}: cannot be written ({reason(error).lower()}); "
            f"make room, or set {setting} to another folder"
        ) from error


def check_new_folder(folder: Path) -> None:
    """Raise unless a folder to write to, set by ``path``, is new or empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SignError(f"path={folder}: is not empty; choose a new folder")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder beside ``folder``, which takes its name only if the block succeeds."""
    temporary = temporary_file(folder.absolute())
    try:
        check_new_folder(folder)
        shutil.rmtree(temporary, ignore_errors=True)  # left by a killed process
        temporary.mkdir(parents=True)
        yield temporary
        temporary.replace(folder)
    except OSError as error:
        raise SignError(f"path={folder}: cannot be written ({reason(error).lower()}); choose another folder") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def temporary_file(file: Path) -> Path:
    """Return the path under which a file is written before it is renamed."""
    return file.with_name(f".{file.name}.tmp")


def publish(file: Path) -> None:
    """Rename the temporary file to its name, durably: its content and its name are on disk afterwards."""
    _sync(temporary_file(file))
    temporary_file(file).replace(file)
    _sync(file.parent)


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
