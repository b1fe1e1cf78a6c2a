"""Links of a built site are followed without a network."""

from pathlib import Path

from check_links import broken_links


def test_a_missing_file_and_a_missing_anchor_are_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    links = ["sub/b.html#there", "#top", "https://example.org/x", "sub/b.html#nowhere", "c.html", "sub/%C3%A9.txt"]
    (tmp_path / "a.html").write_text('<p id="top">' + "".join(f'<a href="{link}">x</a>' for link in links))
    (tmp_path / "sub" / "b.html").write_text('<h1 id="there">b</h1><img src="../a.html"><a href="../a.html#no">x</a>')
    (tmp_path / "sub" / "é.txt").write_text("")
    assert broken_links(tmp_path) == ["a.html: c.html", "a.html: sub/b.html#nowhere", "sub/b.html: ../a.html#no"]
