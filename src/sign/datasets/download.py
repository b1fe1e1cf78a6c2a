"""Files from the network: whole or not at all, gone on with after an interruption, never asked about.

A file that is in its place is never touched. What is missing is fetched to a ``.part`` file, compared with the
size that the server announced, and renamed; an archive is unpacked to a folder beside its place, which is renamed.
"""

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
TIMEOUT = 30  # seconds without a byte after which a server counts as gone
UNREADABLE = (
    BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def ensure_files(folder: Path, addresses: Mapping[str, str]) -> None:
    """Fetch the files that are missing in a folder, each from its address."""
    if not _missing(folder, list(addresses)):
        return
    with locked(folder.parent):
        for name in (absent := _missing(folder, list(addresses))):
            try:
                fetch(addresses[name], folder / name)
            except (OSError, HTTPException) as error:
                raise by_hand(
                    folder, absent, addresses[name], f"fetching failed: {_reason(error)}"
                ) from error


def ensure_given(folder: Path, names: Sequence[str], address: str) -> None:
    """Refuse to go on without files that can only be put into a folder by hand."""
    if absent := _missing(folder, names):
        raise by_hand(folder, absent, address, "they cannot be fetched one by one")


def ensure_unpacked(folder: Path, names: Sequence[str], address: str) -> None:
    """Fetch and unpack the archive at ``address``, whose one folder becomes ``folder``, unless it is there."""
    if not _missing(folder, names):
        return
    with locked(folder.parent):
        if not (absent := _missing(folder, names)):  # another run has unpacked it meanwhile
            return
        if folder.is_dir():
            raise by_hand(folder, absent, address, "the folder is there but not whole; remove it to fetch it")
        archive = folder.parent / address.rpartition("/")[2]
        given = archive.is_file()
        try:
            if not given:
                fetch(address, archive)
        except (OSError, HTTPException) as error:
            raise by_hand(folder, absent, address, f"fetching failed: {_reason(error)}") from error
        unpack(archive, folder)
        if not given:
            archive.unlink()


def by_hand(folder: Path, names: Sequence[str], address: str, reason: str) -> MissingData:
    """The sentence for files that are not there and cannot be fetched."""
    return MissingData(f"{folder}: lacks {', '.join(names)}; put them there from {address} ({reason})")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only process that adds to a folder of data."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locks.exclusive_lock(folder))
        except OSError as error:
            raise SignError(
                f"{folder}: cannot be written ({_reason(error)}); set paths.data_dir to a folder of your own "
                "with the raw files or links to them"
            ) from error
        yield


def fetch(address: str, file: Path) -> None:
    """Download to ``file``; what an interrupted download has left is gone on with.

    A connection that breaks is taken up again as long as it brings something.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    # The server's mark of what was begun: a file that has changed since must not be joined with its old half.
    mark = file.with_name(f"{file.name}.part.mark")
    try:
        with part.open("ab") as stream:
            while not _transfer(address, stream, mark):
                pass
        part.rename(file)
    finally:
        if file.is_file() or not part.stat().st_size:
            part.unlink(missing_ok=True)
            mark.unlink(missing_ok=True)


def _transfer(address: str, stream: IO[bytes], mark: Path) -> bool:
    """One request, for what comes after the end of ``stream``; whether the file is whole then.

    False means that the connection broke but has brought something; if it has not, the error is raised.
    """
    begun = stream.tell()
    known = mark.read_text() if begun and mark.is_file() else ""
    asked = {"Range": f"bytes={begun}-", "If-Range": known} if known else {}
    try:
        total = _receive(Request(address, headers=asked), stream, mark)
        if total in (None, stream.tell()):
            return True
        error: Exception = ConnectionError(f"it broke off after {stream.tell()} of {total} bytes")
    except HTTPError as refusal:
        if refusal.code != 416 or not begun:  # 416: there is nothing after what is here
            raise
        _begin_again(stream)
        return False
    except (OSError, HTTPException) as broken:
        error = broken
    if stream.tell() > begun:
        return False
    raise error


def _receive(request: Request, stream: IO[bytes], mark: Path) -> int | None:
    """Add what the server sends, or begin again if it sends the whole file; the size of the whole, if known."""
    begun = stream.tell()
    with urlopen(request, timeout=TIMEOUT) as answer:
        if answer.headers.get_content_type() == "text/html":
            raise ConnectionError("the server sent a page instead of the file")
        total = _total(answer, begun)
        if answer.status != 206:
            _begin_again(stream)
            mark.write_text(_mark(answer))
        with progress() as bar:
            shown = bar.add_task(f"{Path(stream.name).stem} · MB", total=(total or 0) / 1e6)
            while block := answer.read(BLOCK):
                stream.write(block)
                bar.update(shown, completed=stream.tell() / 1e6)
    return total


def _total(answer: HTTPResponse, begun: int) -> int | None:
    """The size of the whole file, if the server tells it."""
    if answer.status == 206:
        found = re.fullmatch(rf"bytes {begun}-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        if not found:
            raise ConnectionError("the server sent another part than was asked for")
        return int(found[1])
    length = answer.headers.get("Content-Length")
    return None if length is None else int(length)


def _begin_again(stream: IO[bytes]) -> None:
    stream.seek(0)
    stream.truncate()


def _mark(answer: HTTPResponse) -> str:
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified", "")


def unpack(archive: Path, folder: Path) -> None:
    """Unpack a .zip or .tar file whose one folder becomes ``folder``; nothing is left if it cannot be done."""
    fresh = folder.with_name(f"{folder.name}.unpacking")
    shutil.rmtree(fresh, ignore_errors=True)  # of a run that was killed
    try:
        for name, content in _members(archive):
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or "\\" in name:
                raise ValueError(f"it wants to write outside its folder, to {name}")
            (fresh / place).parent.mkdir(parents=True, exist_ok=True)
            with content, (fresh / place).open("xb") as file:
                shutil.copyfileobj(content, file, BLOCK)
        tops = list(fresh.iterdir()) if fresh.is_dir() else []
        if len(tops) != 1 or not tops[0].is_dir():
            raise ValueError("it does not hold exactly one folder")
        tops[0].rename(folder)
    except (*UNREADABLE, OSError) as error:
        raise SignError(
            f"{archive}: cannot be unpacked ({_reason(error)}); remove it to fetch it again"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of an archive; whatever is neither a file nor a folder is refused."""
    if archive.suffix == ".zip":
        with ZipFile(archive) as packed:
            for entry in packed.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise ValueError(f"{entry.filename} is a link or a device")
                if not entry.is_dir():
                    yield entry.filename, packed.open(entry)
        return
    with tarfile.open(archive) as tape:
        for member in tape:
            if member.isdir():
                continue
            content = tape.extractfile(member) if member.isreg() else None
            if content is None:
                raise ValueError(f"{member.name} is a link or a device")
            yield member.name, content


def _missing(folder: Path, names: Sequence[str]) -> list[str]:
    return [name for name in names if not (folder / name).is_file()]


def _reason(error: BaseException) -> str:
    return reason(getattr(error, "reason", error))  # within an error of urllib
