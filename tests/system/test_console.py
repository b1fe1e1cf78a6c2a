"""Whatever a name contains, the terminal shows it as text."""

import ast
import io

import pytest
from common.paths import REPOSITORY
from rich.table import Column, Table

from sign.system.console import PlainConsole, print_to_stderr, printable

HOSTILE = "\x1b[31mred\x1b]0;title\x07 [bold]b[/] [/] :smile: \x9b \u202e \ud800"
SHOWN = r"\x1b[31mred\x1b]0;title\x07 [bold]b[/] [/] :smile: \x9b \u202e \ud800"


@pytest.mark.parametrize("text", ["plain", "Größe 中文 α±×", "two\nlines\tand a tab", "a\u00a0b"])
def test_ordinary_text_stays(text: str) -> None:
    assert printable(text) == text


def test_control_characters_become_visible() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("\r\x00\u2028\u200b") == r"\r\x00\u2028\u200b"


def test_lines_cells_headers_and_titles_are_text() -> None:
    table = Table(HOSTILE, Column("b", style="dim"), title=HOSTILE)
    table.add_row(HOSTILE, "x")
    for shown, times in ((HOSTILE, 1), (table, 3)):
        console = PlainConsole(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
        console.print(shown)
        text = console.file.getvalue()
        assert text.count(SHOWN) == times
        assert "\x1b]" not in text
        assert "\x07" not in text


def test_errors_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_to_stderr(f"error: {HOSTILE}")
    assert capsys.readouterr().err == f"error: {SHOWN}\n"


def test_the_package_prints_in_no_other_way() -> None:
    for file in sorted((REPOSITORY / "src" / "sign").rglob("*.py")):
        called = {
            ast.unparse(node.func) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
        }
        own = file.name == "console.py"
        assert own or not called & {"print", "Console", "rich.print", "sys.stdout.write", "sys.stderr.write"}, file
        assert "rich.markup" not in file.read_text(), file
