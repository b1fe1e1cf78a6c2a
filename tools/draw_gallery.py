"""Collect the pictures of docs/gallery.md: ``python tools/draw_gallery.py`` writes docs/images/gallery.

It takes screenshots of the report page of the run folders under ``outputs`` (``--outputs``) and of the start page of
the built site (``make docs``), at three widths in light and dark, and of two figures of the report, and copies the
figures that the commands of ``DRAWN`` wrote. Colours are reduced to a palette, so that all of them together
stay small.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import chromium
from PIL import Image, ImageChops

from sign.report.write import Report

REPOSITORY = Path(__file__).parents[1]
FOLDER = REPOSITORY / "docs" / "images" / "gallery"
SITE = REPOSITORY / "docs" / "_build" / "html" / "index.html"
SIZES = {"phone": (390, 844), "tablet": (820, 1100), "desktop": (1400, 900)}
THEMES = {"dark": 0, "light": 1}  # the values of Chromium's setting
FIGURES = {"seconds": "time", "search": "study-0"}  # sections of the report, by the names of their images
DRAWN = {  # files below the outputs, and the commands that write them
    "reproduction/triangles.png": "python src/reproduce.py figure=triangles datasets=[cora,debian]",
    "reproduction/smoke/convergence.png": "OMP_NUM_THREADS=1 python src/reproduce.py table=smoke",
    "cards/cora.png": "python src/describe.py",
}
COLOURS, MARGIN = 256, 24  # of the palette; pixels below what is kept
ALONE = """
const keep = document.getElementById("{section}");
keep.querySelectorAll(".scroll, .more").forEach((table) => table.remove());
document.querySelectorAll("body > :not(main), main > *").forEach((part) => part === keep || part.remove());
"""


def shrink(image: Path, trim: bool = False) -> None:
    """Reduce an image to a palette; ``trim`` cuts off empty rows at the bottom."""
    with Image.open(image) as opened:
        picture = opened.convert("RGB")
    if trim:
        paper = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
        *_, bottom = ImageChops.difference(picture, paper).getbbox() or (0, 0, 0, picture.height)
        picture = picture.crop((0, 0, picture.width, min(bottom + MARGIN, picture.height)))
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(image, optimize=True)


def take(page: Path, name: str, size: tuple[int, int], theme: str, trim: bool = False) -> None:
    """Take one screenshot; the page's own choice of colours is left to the system's, which is ``theme``."""
    image = FOLDER / f"{name}-{theme}.png"
    chromium.open_page(page.as_uri(), image, size, f"--blink-settings=preferredColorScheme={THEMES[theme]}")
    shrink(image, trim)


def main() -> None:
    """Write all pictures and print their files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="run folders and figures")
    outputs = parser.parse_args().outputs
    needed = {SITE: "make docs", **{outputs / name: command for name, command in DRAWN.items()}}
    if missing := [f"{file} is missing; run: {command}" for file, command in needed.items() if not file.is_file()]:
        sys.exit("\n".join(missing))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in DRAWN:
        shrink(Path(shutil.copy(outputs / name, FOLDER)))
    with tempfile.TemporaryDirectory() as folder:
        report = Report.read([outputs]).write(Path(folder).resolve())
        for theme in THEMES:
            for size, window in SIZES.items():
                for name, page in {"report": report, "site": SITE}.items():
                    take(page, f"{name}-{size}", window, theme)
            for name, section in FIGURES.items():
                alone = report.with_name(f"{name}.html")
                alone.write_text(f"{report.read_text()}<script>{ALONE.format(section=section)}</script>")
                take(alone, name, (1000, 1600), theme, trim=True)
    sys.stdout.write(f"{len(list(FOLDER.glob('*.png')))} pictures in {FOLDER}\n")


if __name__ == "__main__":
    main()
