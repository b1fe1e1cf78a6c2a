"""Text files within limits, and text that is safe to show."""

import os
from pathlib import Path

import pytest

from sign.errors import SignError
from sign.system.text_files import read_text, visible


def test_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("ab\r\nü", newline="")
    assert read_text(tmp_path / "a", 6) == "ab\r\nü"
    with pytest.raises(SignError, match="a: has more than 0 kB"):
        read_text(tmp_path / "a", 5)


def test_pipe_is_refused_instead_of_awaited(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with pytest.raises(SignError, match="not a regular file"):
        read_text(tmp_path / "a", 10)


@pytest.mark.parametrize(
    ("content", "reason"), [(b"\xff", "it is not UTF-8 text"), (b"a\0", "it contains zero bytes"), (None, "no such")]
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "a").write_bytes(content)
    with pytest.raises(SignError, match=f"a: cannot be read \\({reason}"):
        read_text(tmp_path / "a", 10)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),  # sets the title of a terminal
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),  # reverses the order of letters
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),  # invisible
        ("a\udcffb", r"a\udcffb"),
        ("a\tb\r\nc\x85\u2028", r"a\tb\r\nc\x85\u2028"),
        ("Größe ± 数据 🙂 e\u0301", "Größe ± 数据 🙂 e\u0301"),
    ],
)
def test_characters_that_change_the_text_around_them_are_shown_as_codes(text: str, shown: str) -> None:
    assert visible(text) == shown
