"""Check the links of a built site without a network: ``python tools/check_links.py docs/_build/html``.

Every relative ``href`` and ``src`` must name a file, and every fragment an id of that page.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the ids of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.ids: set[str] = set()
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ``id``, ``href`` and ``src``."""
        for name, value in attrs:
            if value and name == "id":
                self.ids.add(value)
            elif value and name in ("href", "src"):
                self.links.add(value)


def broken_links(site: Path) -> list[str]:
    """Return ``page: link`` for each link that leads nowhere."""
    pages = {file.resolve(): Page(file) for file in sorted(site.rglob("*.html")) if "_static" not in file.parts}
    broken = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            found = target.is_file()
            if found and parts.fragment and target in pages:
                found = unquote(parts.fragment) in pages[target].ids
            if not found:
                broken.append(f"{file.relative_to(site.resolve())}: {link}")
    return broken


def main() -> None:
    """Print the broken links; exit with 1 if there are any."""
    site = Path(sys.argv[1])
    broken = broken_links(site)
    pages = sum(1 for _ in site.rglob("*.html"))
    sys.stdout.write("\n".join([*broken, f"{pages} pages in {site}, {len(broken)} broken links", ""]))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
