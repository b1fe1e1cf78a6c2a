"""A real browser without a window: what a page shows, what its console says, and how it looks."""

import re
import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
]


@dataclass
class View:
    """A page after its script ran: the text of its tables by id, of its selectors, and what went wrong."""

    tables: dict[str, list[list[str]]]
    ids: set[str]
    tags: list[str]
    text: str
    console: list[str]
    screenshot: Path
    outside: list[str] = field(default_factory=list)


def look(page: Path, folder: Path, view: str = "", size: tuple[int, int] = (1400, 1000)) -> View:
    """Open ``page#view``, and skip the test where there is no browser."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    image = folder / f"{re.sub('[^a-z0-9]+', '-', view.lower())}-{size[0]}.png"
    window = [f"--user-data-dir={folder / 'profile'}", "--window-size={},{}".format(*size)]
    told = subprocess.run(
        [
            program,
            *QUIET,
            *window,
            f"--screenshot={image}",
            "--dump-dom",
            f"{page.resolve().as_uri()}#{view}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    shutil.rmtree(folder / "profile", ignore_errors=True)
    assert told.returncode == 0, told.stderr
    reader = _Reader()
    reader.feed(told.stdout)
    console = [line for line in told.stderr.splitlines() if "CONSOLE" in line]
    return View(
        reader.tables, reader.ids, reader.tags, " ".join(reader.words), console, image, reader.outside
    )


class _Reader(HTMLParser):
    """Rows of cells of every table, as text; scripts and styles are not text."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: set[str] = set()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.outside: list[str] = []
        self._rows: list[list[str]] | None = None
        self._cell = False
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.ids |= {given["id"]} if given.get("id") else set()
        for name in ("src", "href", "action"):
            address = given.get(name) or ""
            if address and not address.startswith(("#", "data:")):
                self.outside.append(address)
        self._silent = tag in ("script", "style", "noscript")
        if tag == "table":
            self._rows = self.tables.setdefault(given.get("id") or "", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        self._cell = tag in ("td", "th") or (self._cell and tag in ("a", "button", "span", "small"))
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False
        if tag in ("td", "th", "table"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        self.words.append(data)
        if self._cell and self._rows:
            self._rows[-1][-1] += data
