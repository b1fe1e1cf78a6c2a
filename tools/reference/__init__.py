"""The generated pages of the reference: every setting and every command, from ``conf/`` and the sources.

``docs/conf.py`` writes them to ``docs/reference/generated`` when the site is built.
"""

from pathlib import Path

from reference import commands, settings


def pages() -> dict[str, str]:
    """Return the Markdown of each generated page by its file name."""
    return settings.pages() | {"commands.md": commands.page()}


def write(folder: Path) -> None:
    """Write the pages that have changed, so that Sphinx reads only those again."""
    folder.mkdir(parents=True, exist_ok=True)
    current = pages()
    for file in folder.glob("*.md"):
        if file.name not in current:
            file.unlink()
    for name, text in current.items():
        file = folder / name
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)
