"""A YAML file of any content is read or refused, at once and without running code."""

from pathlib import Path

import pytest

from sign.errors import SignError
from sign.system.yaml_files import MAX_BYTES, MAX_DEPTH, read_yaml

BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 20))


def test_plain_values_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("model: {p: 2, title: null}\nrate: 1.0e-05\nname: 'x: y'\n")
    assert read_yaml(tmp_path / "a.yaml") == {"model": {"p": 2, "title": None}, "rate": 1e-5, "name": "x: y"}


def test_the_deepest_value_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert read_yaml(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &a [*a]", "has the alias *a"),
        (BOMB, "has the alias *a0"),
        ("<<: &a {b: 1}\nc: *a", "has the alias *a"),
        ("!!python/object/apply:os.getcwd []", "has the tag tag:yaml.org,2002:python/object/apply:os.getcwd"),
        ("a: !!timestamp x", "has the tag"),
        ("[" * 100_000, f"is nested more than {MAX_DEPTH} levels deep"),
        ("{a: " * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "is nested more than"),
        ("a" * (MAX_BYTES + 1), "has more than 256 kB"),
        ("9" * 10_000, "has a value of more than 2048 characters"),
        ("1" + ":59" * 80_000, "has a value of more than 2048 characters"),  # base 60, in quadratic time
        ("a: [1", "cannot be read as YAML (ParserError)"),
        ("a: 2001-99-99", "cannot be read as YAML (ValueError)"),
        ("a: \x00", "cannot be read (it contains zero bytes)"),
        ("{[1]: 2}", "cannot be read as YAML (ConstructorError)"),
    ],
)
def test_everything_else_is_refused_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(SignError) as caught:
        read_yaml(file)
    assert str(caught.value).startswith(f"{file}: {problem}")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(SignError, match="it is not UTF-8 text"):
        read_yaml(tmp_path / "a.yaml")
    with pytest.raises(SignError, match="no such file"):
        read_yaml(tmp_path / "b.yaml")
