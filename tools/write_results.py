"""Fill the tables and figures of results in README.md and docs from measured results in ``docs/data``.

``python tools/write_results.py outputs/reproduction outputs/benchmarks`` first copies the numbers that
``src/reproduce.py`` and ``benchmarks/diffusion.py`` wrote to these folders; without folders, it fills the pages from
``docs/data`` as it is.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from results import data, diffusion, tables

REPOSITORY = Path(__file__).parents[1]
IMAGES = REPOSITORY / "docs" / "images"
PAGES = (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
FIGURES: dict[str, Callable[[], str]] = {"diffusion": lambda: diffusion.figure(diffusion.read())}


def render(name: str, **chosen: tuple[str, ...]) -> str:
    """Return the Markdown of a table."""
    return diffusion.markdown(diffusion.read()) if name == "diffusion" else tables.markdown(data.read(name), **chosen)


def outdated() -> dict[Path, str]:
    """Return the files that differ from the results, with what they should contain."""
    texts = {page: tables.filled(page.read_text(), render) for page in PAGES}
    texts |= {IMAGES / f"{name}.svg": draw() for name, draw in FIGURES.items()}
    return {file: text for file, text in texts.items() if not file.is_file() or file.read_text() != text}


def main() -> None:
    """Collect results if folders are named, and write what is outdated."""
    written = [path for folder in sys.argv[1:] for path in data.collect(Path(folder))]
    for file, text in outdated().items():
        file.write_text(text)
        written.append(file)
    sys.stdout.write("".join(f"{file.relative_to(REPOSITORY)}\n" for file in written) or "all pages are up to date\n")


if __name__ == "__main__":
    main()
