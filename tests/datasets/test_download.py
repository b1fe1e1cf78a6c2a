"""Downloads are complete or absent; archives are extracted safely."""

import io
import re
import stat
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from sign.datasets.download import ensure_extracted, ensure_files, extract, fetch, require_files
from sign.errors import SignError

CONTENT = bytes(range(256)) * 40


class Server:
    """A server with one file at every address, and the faults that a test asks for."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.tag: str | None = '"one"'
        self.ranges = True  # whether it understands them
        self.breaks: list[int] = []  # the bytes after which the next answers break off
        self.kind = "application/octet-stream"
        self.asked: list[str | None] = []  # the Range of each request
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}/file"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range")
        self.asked.append(asked)
        first = 0
        if asked and self.ranges and request.headers.get("If-Range") == self.tag:
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
        if first >= len(self.content):
            request.send_error(416)
            return
        request.send_response(206 if first else 200)
        if first:
            request.send_header("Content-Range", f"bytes {first}-{len(self.content) - 1}/{len(self.content)}")
        request.send_header("Content-Type", self.kind)
        request.send_header("Content-Length", str(len(self.content) - first))
        if self.tag:
            request.send_header("ETag", self.tag)
        request.end_headers()
        limit = self.breaks.pop(0) if self.breaks else len(self.content)
        request.wfile.write(self.content[first : first + limit])

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    server = Server()
    yield server
    server.close()


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_complete_download(server: Server, tmp_path: Path) -> None:
    fetch(server.address, tmp_path / "a" / "file")
    assert (tmp_path / "a" / "file").read_bytes() == CONTENT
    assert left(tmp_path / "a") == {"file"}


def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    server.breaks = [1000, 500]
    fetch(server.address, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked == [None, "bytes=1000-", "bytes=1500-"]


def test_an_interrupted_download_is_resumed_by_the_next_run(server: Server, tmp_path: Path) -> None:
    server.breaks = [1000, 0]
    with pytest.raises(OSError, match=f"the connection broke after 1000 of {len(CONTENT)} bytes"):
        fetch(server.address, tmp_path / "file")
    assert left(tmp_path) == {"file.part", "file.part.version"}
    fetch(server.address, tmp_path / "file")
    assert server.asked[-1] == "bytes=1000-"
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert left(tmp_path) == {"file"}


@pytest.mark.parametrize("change", ["ranges", "tag", "untagged"])
def test_what_cannot_be_resumed_starts_again(server: Server, tmp_path: Path, change: str) -> None:
    server.tag = None if change == "untagged" else '"one"'
    server.breaks = [1000, 0]
    with pytest.raises(OSError, match="the connection broke"):
        fetch(server.address, tmp_path / "file")
    if change == "ranges":
        server.ranges = False
    if change == "tag":
        server.tag, server.content = '"two"', CONTENT[::-1]
    fetch(server.address, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == server.content


def test_a_part_that_is_too_long_starts_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT * 2)
    (tmp_path / "file.part.version").write_text('"one"')
    fetch(server.address, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_file_of_the_wrong_size_is_refused(server: Server, tmp_path: Path) -> None:
    server.ranges, server.breaks = False, [50, 50]
    with pytest.raises(OSError, match="the connection broke after 50"):
        fetch(server.address, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_web_page_or_an_http_error_is_not_the_file(server: Server, tmp_path: Path) -> None:
    server.kind = "text/html"
    with pytest.raises(OSError, match="a web page instead of the file"):
        fetch(server.address, tmp_path / "file")
    server.content = b""
    with pytest.raises(HTTPError):
        fetch(server.address, tmp_path / "file")
    assert left(tmp_path) == set()


def test_only_missing_files_are_downloaded(server: Server, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a").write_text("mine")
    addresses = {"a": server.address, "b": server.address}
    ensure_files(tmp_path / "raw", addresses)
    assert (tmp_path / "raw" / "a").read_text() == "mine"
    assert (tmp_path / "raw" / "b").read_bytes() == CONTENT
    ensure_files(tmp_path / "raw", addresses)
    assert len(server.asked) == 1


def test_without_a_network_the_message_says_what_to_copy_where(server: Server, tmp_path: Path) -> None:
    server.close()
    message = f"a, b missing; copy them there from {server.address} (the download failed: Connection refused)"
    with pytest.raises(SignError, match=re.escape(f"{tmp_path}/x: {message}")):
        ensure_files(tmp_path / "x", dict.fromkeys("ab", server.address))
    with pytest.raises(SignError, match=re.escape(f"{tmp_path}/y: {message}")):
        ensure_extracted(tmp_path / "y", ["a", "b"], server.address)
    with pytest.raises(SignError, match=r"a missing; copy them there from page \(they cannot be downloaded"):
        require_files(tmp_path / "x", ["a"], "page")


def zipped(*names: str, link: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFLNK if link else stat.S_IFREG) << 16
            archive.writestr(entry, "content")
    return stream.getvalue()


def taped(name: str, kind: bytes = tarfile.REGTYPE, mode: str = "w:bz2") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tape:  # type: ignore[call-overload]
        entry = tarfile.TarInfo(name)
        entry.type, entry.size, entry.linkname = kind, 7 * (kind == tarfile.REGTYPE), "/etc/passwd"
        tape.addfile(entry, io.BytesIO(b"content"))
    return stream.getvalue()


@pytest.mark.parametrize(("name", "content"), [("x.zip", zipped("top/a", "top/raw/b")), ("x.tar.bz2", taped("top/a"))])
def test_the_only_folder_of_an_archive_is_renamed(server: Server, tmp_path: Path, name: str, content: bytes) -> None:
    server.content = content
    ensure_extracted(tmp_path / "place", ["a"], f"{server.address}/{name}")
    assert (tmp_path / "place" / "a").read_text() == "content"
    assert left(tmp_path) == {"place", ".lock"}


def test_an_incomplete_folder_is_not_modified(server: Server, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    with pytest.raises(SignError, match=r"a missing; copy them there .* remove it to download it"):
        ensure_extracted(tmp_path / "place", ["a"], server.address)
    assert not server.asked


def test_an_archive_of_the_user_is_used_and_kept(server: Server, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(zipped("top/a"))
    ensure_extracted(tmp_path / "place", ["a"], f"{server.address}/x.zip")
    assert left(tmp_path) == {"place", ".lock", "x.zip"}
    assert not server.asked


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.zip", zipped("top/a", "../evil"), "../evil is outside the destination"),
        ("x.zip", zipped("top/a", "/evil"), "/evil is outside the destination"),
        ("x.zip", zipped("top/a", link=True), "a link or a special file"),
        ("x.zip", zipped("top/a", "other/b"), "exactly one folder"),
        ("x.zip", zipped("top/a")[:-30], "not a zip file"),
        ("x.tar.bz2", taped("top/../../evil"), "outside the destination"),
        ("x.tar.bz2", taped("top/a", tarfile.SYMTYPE), "link to an absolute path"),
        ("x.tar.bz2", taped("top/a", tarfile.LNKTYPE), "link to an absolute path"),
        ("x.tar.bz2", taped("top/a", tarfile.CHRTYPE), "special file"),
        ("x.tar.bz2", taped("top/a")[:-30], "cannot be extracted"),
    ],
)
def test_a_malicious_or_damaged_archive_leaves_nothing(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    inner = tmp_path / "in"
    inner.mkdir()
    (inner / name).write_bytes(content)
    with pytest.raises(SignError, match=reason):
        extract(inner / name, inner / "place")
    assert left(inner) == {name}
    assert left(tmp_path) == {"in"}
