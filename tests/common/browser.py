"""Headless Chromium: the contents, console messages and screenshot of a page."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import chromium
import pytest


@dataclass
class View:
    """A page after its script ran: tables by id, panels, tooltip, toggles, console errors and external URLs."""

    tables: dict[str, list[list[str]]]
    ids: set[str]
    tags: list[str]
    text: str
    console: list[str]
    screenshot: Path
    outside: list[str]
    tip: str
    pressed: list[str]
    panels: list[str]


def look(page: Path, folder: Path, view: str = "", size: tuple[int, int] = (1400, 1000)) -> View:
    """Open ``page#view`` in headless Chromium; skips the test where there is none."""
    if chromium.program() is None:
        pytest.skip(f"no browser: none of {', '.join(chromium.PROGRAMS)} is installed")
    image = folder / f"{re.sub('[^a-z0-9]+', '-', view.lower())}-{size[0]}.png"
    result = chromium.open_page(f"{page.resolve().as_uri()}#{view}", image, size, "--dump-dom")
    reader = _Reader()
    reader.feed(result.stdout)
    console = [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    return View(
        tables=reader.tables,
        ids=reader.ids,
        tags=reader.tags,
        text=" ".join(reader.words),
        console=console,
        screenshot=image,
        outside=reader.outside,
        tip=reader.tip,
        pressed=reader.pressed,
        panels=reader.panels,
    )


class _Reader(HTMLParser):
    """Collects the text of table cells, ids, tags and external URLs; scripts and styles are skipped."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: set[str] = set()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.outside: list[str] = []
        self.pressed: list[str] = []
        self.panels: list[str] = []
        self.tip = ""
        self._in_tip = False
        self._rows: list[list[str]] | None = None
        self._cell = False
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        self.ids |= {attributes["id"]} if attributes.get("id") else set()
        for name in ("src", "href", "action"):
            address = attributes.get(name) or ""
            if address and not address.startswith(("#", "data:")):
                self.outside.append(address)
        self.pressed += [attributes["aria-pressed"]] if attributes.get("aria-pressed") else []
        self.panels += [attributes["data-panel"]] if attributes.get("data-panel") else []
        self._in_tip = attributes.get("id") == "tip" or (self._in_tip and tag in ("strong", "span"))
        self._silent = tag in ("script", "style", "noscript")
        if tag == "table":
            self._rows = self.tables.setdefault(attributes.get("id") or "", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        self._cell = tag in ("td", "th") or (self._cell and tag in ("a", "button", "span", "small"))
        if tag in ("td", "th") and self._rows:
            self._rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False
        self._in_tip = self._in_tip and tag != "div"
        if tag in ("td", "th", "table"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        self.words.append(data)
        self.tip += f"{data} " if self._in_tip else ""
        if self._cell and self._rows:
            self._rows[-1][-1] += data
