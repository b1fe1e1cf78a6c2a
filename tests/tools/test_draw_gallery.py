"""The pictures of the documentation exist, are shown, and stay small."""

import re
from pathlib import Path

import chromium
import draw_gallery
import pytest
from common.paths import REPOSITORY
from PIL import Image

PAGE = (REPOSITORY / "docs" / "gallery.md").read_text()
PICTURES = sorted(draw_gallery.FOLDER.iterdir())


def test_the_page_shows_every_picture_and_no_other() -> None:
    shown = re.findall(r"\]\(images/gallery/([\w.-]+)\)", PAGE)
    screens = [f"{name}-{size}" for name in ("report", "site") for size in draw_gallery.SIZES]
    taken = [f"{name}-{theme}.png" for name in [*screens, *draw_gallery.FIGURES] for theme in draw_gallery.THEMES]
    copied = [Path(name).name for name in draw_gallery.DRAWN]
    assert sorted(shown) == sorted([*taken, *copied]) == [file.name for file in PICTURES]


def test_pictures_are_small() -> None:
    sizes = [file.stat().st_size for file in PICTURES]
    assert max(sizes) < 150_000
    assert sum(sizes) < 1_500_000


def test_shrinking_keeps_the_picture_and_trims_the_paper_below_it(tmp_path: Path) -> None:
    picture = Image.new("RGB", (50, 200), "white")
    picture.paste((200, 30, 30), (10, 20, 20, 40))
    picture.save(tmp_path / "a.png")
    draw_gallery.shrink(tmp_path / "a.png", trim=True)
    with Image.open(tmp_path / "a.png") as shrunk:
        assert shrunk.size == (50, 40 + draw_gallery.MARGIN)
        assert shrunk.convert("RGB").getpixel((15, 30)) == (200, 30, 30)


@pytest.mark.browser
def test_a_section_of_a_page_is_shown_alone(tmp_path: Path) -> None:
    if chromium.program() is None:
        pytest.skip("no browser")
    page = tmp_path / "page.html"
    sections = '<section id="a">first</section><section id="b">second<div class="scroll">table</div></section>'
    script = draw_gallery.ALONE.format(section="b")
    page.write_text(f"<header>top</header><main>{sections}</main><script>{script}</script>")
    shown = chromium.open_page(page.as_uri(), tmp_path / "page.png", (300, 300), "--dump-dom").stdout
    assert "second" in shown
    assert not [text for text in ("first", "top", "table") if text in shown]
