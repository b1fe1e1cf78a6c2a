"""Downloads that resume after an interruption, and archives.

Existing files are never modified. A missing file is downloaded to a ``.part`` file, compared with the size that the
server announced, and renamed; an archive is extracted to a temporary folder, which is renamed.
"""

import logging
import re
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from zipfile import BadZipFile, ZipFile

from sign.errors import MissingData, SignError, reason
from sign.system import locks
from sign.system.console import progress

BLOCK = 1 << 20  # bytes that are read at a time
TIMEOUT = 30  # seconds without a byte before a connection counts as broken
DAMAGED = (BadZipFile, tarfile.TarError, EOFError, zlib.error, NotImplementedError, RuntimeError, ValueError)
PLAIN = (0, stat.S_IFREG, stat.S_IFDIR)  # types of members of a .zip archive that are extracted

log = logging.getLogger(__name__)


def ensure_files(folder: Path, addresses: Mapping[str, str]) -> None:
    """Download the files that are missing in a folder, each from its address."""
    if not _missing(folder, addresses):
        return
    with data_lock(folder.parent):
        for name in (missing := _missing(folder, addresses)):
            _download(addresses[name], folder / name, folder, missing)


def require_files(folder: Path, names: Sequence[str], address: str) -> None:
    """Raise :class:`MissingData` unless all files exist; they can only be downloaded manually."""
    if missing := _missing(folder, names):
        raise missing_data(folder, missing, address, "they cannot be downloaded separately")


def ensure_extracted(folder: Path, names: Sequence[str], address: str) -> None:
    """Download and extract the archive at ``address``, whose only folder becomes ``folder``, if it is missing."""
    if not _missing(folder, names):
        return
    with data_lock(folder.parent):
        if not (missing := _missing(folder, names)):  # another process has extracted it meanwhile
            return
        if folder.is_dir():
            raise missing_data(folder, missing, address, "the folder is incomplete; remove it to download it again")
        archive = folder.parent / address.rpartition("/")[2]
        is_users = archive.is_file()
        if not is_users:
            _download(address, archive, folder, missing)
        extract(archive, folder)
        if not is_users:
            archive.unlink()


def missing_data(folder: Path, names: Sequence[str], address: str, cause: str) -> MissingData:
    """Return the error for files that are missing and cannot be downloaded."""
    return MissingData(f"{folder}: {', '.join(names)} missing; copy them there from {address} ({cause})")


@contextmanager
def data_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder of data; raise :class:`SignError` if it is not writable."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locks.exclusive_lock(folder))
        except OSError as error:
            raise SignError(
                f"{folder}: not writable ({reason(error)}); set paths.data_dir to a writable folder "
                "with the raw files or links to them"
            ) from error
        yield


def _missing(folder: Path, names: Sequence[str] | Mapping[str, str]) -> list[str]:
    return [name for name in names if not (folder / name).is_file()]


def _download(address: str, file: Path, folder: Path, missing: Sequence[str]) -> None:
    log.info("downloading %s", address)
    try:
        fetch(address, file)
    except (OSError, HTTPException) as error:
        raise missing_data(folder, missing, address, f"the download failed: {reason(error)}") from error


def fetch(address: str, file: Path) -> None:
    """Download a file; resume an interrupted download, and retry as long as each attempt brings some bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    # The version that the first request received: a file that has changed since must not be resumed.
    version_file = file.with_name(f"{file.name}.part.version")
    try:
        with part.open("ab") as stream:
            while not _transfer(address, stream, version_file):
                pass
        part.rename(file)
    finally:
        if file.is_file() or not part.stat().st_size:
            part.unlink(missing_ok=True)
            version_file.unlink(missing_ok=True)


def _transfer(address: str, stream: IO[bytes], version_file: Path) -> bool:
    """Request what follows the end of ``stream``; return whether the file is complete.

    False means that the connection broke after some bytes; if there were none, the error is raised.
    """
    start = stream.tell()
    version = version_file.read_text() if start and version_file.is_file() else ""
    headers = {"Range": f"bytes={start}-", "If-Range": version} if version else {}
    try:
        total = _receive(Request(address, headers=headers), stream, version_file)
        if total in (None, stream.tell()):
            return True
        error: Exception = ConnectionError(f"the connection broke after {stream.tell()} of {total} bytes")
    except HTTPError as refusal:
        if refusal.code != 416 or not start:  # 416: the file ends before the requested range
            raise
        stream.truncate(stream.seek(0))
        return False
    except (OSError, HTTPException) as broken:
        error = broken
    if stream.tell() > start:
        return False
    raise error


def _receive(request: Request, stream: IO[bytes], version_file: Path) -> int | None:
    """Append the response, or start again if it is the whole file; return the size of the file, if known."""
    start = stream.tell()
    with urlopen(request, timeout=TIMEOUT) as response:
        if response.headers.get_content_type() == "text/html":
            raise ConnectionError("the server sent a web page instead of the file")
        total = _total_size(response, start)
        if response.status != 206:
            stream.truncate(stream.seek(0))
            tag, date = response.headers.get("ETag", ""), response.headers.get("Last-Modified", "")
            version_file.write_text(tag if tag and not tag.startswith("W/") else date)
        with progress() as bar:
            task = bar.add_task(f"{Path(stream.name).stem} · MB", total=(total or 0) / 1e6)
            while block := response.read(BLOCK):
                stream.write(block)
                bar.update(task, completed=stream.tell() / 1e6)
    return total


def _total_size(response: HTTPResponse, start: int) -> int | None:
    """Return the size of the whole file, if the server reports it."""
    if response.status == 206:
        match = re.fullmatch(rf"bytes {start}-\d+/(\d+)", response.headers.get("Content-Range", ""))
        if not match:
            raise ConnectionError("the server sent another range than requested")
        return int(match[1])
    length = response.headers.get("Content-Length")
    return None if length is None else int(length)


def extract(archive: Path, folder: Path) -> None:
    """Extract a .zip or .tar archive whose only folder becomes ``folder``; on failure nothing is left behind."""
    temporary = folder.with_name(f"{folder.name}.extracting")
    shutil.rmtree(temporary, ignore_errors=True)  # of a process that was killed
    try:
        if archive.suffix == ".zip":
            with ZipFile(archive) as contents:
                for member in contents.infolist():
                    path = PurePosixPath(member.filename)
                    if path.is_absolute() or ".." in path.parts:
                        raise ValueError(f"{member.filename} is outside the destination")
                    if stat.S_IFMT(member.external_attr >> 16) not in PLAIN:
                        raise ValueError(f"{member.filename} is a link or a special file")
                contents.extractall(temporary)
        else:
            with tarfile.open(archive) as tape:
                tape.extractall(temporary, filter="data")
        entries = list(temporary.iterdir()) if temporary.is_dir() else []
        if len(entries) != 1 or not entries[0].is_dir():
            raise ValueError("it does not contain exactly one folder")
        entries[0].rename(folder)
    except (*DAMAGED, OSError) as error:
        raise SignError(f"{archive}: cannot be extracted ({reason(error)}); remove it to download it again") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
