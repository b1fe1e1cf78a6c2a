"""The generated reference has every setting, with types that its default satisfies, and every command."""

import doctest
from pathlib import Path
from typing import Any

import pytest
import reference
import yaml
from common.paths import REPOSITORY
from reference import commands, conf_files, hints, settings

from sign.config.identity import flatten
from sign.validation import Count, check

CONF = REPOSITORY / "conf"
PAGES = reference.pages()


@pytest.mark.parametrize("module", [conf_files, hints, settings], ids=lambda module: module.__name__)
def test_examples_of_the_generator(module: Any) -> None:
    assert doctest.testmod(module).attempted
    assert not doctest.testmod(module).failed


def leaves(values: dict[str, Any], prefix: str = "") -> list[str]:
    names = [name for name in values if name not in ("defaults", "hydra", "_target_")]
    nested = [name for name in names if not prefix and isinstance(values[name], dict) and values[name]]
    found = [f"{prefix}{name}" for name in names if name not in nested]
    return [*found, *(leaf for name in nested for leaf in leaves(values[name], f"{name}."))]


@pytest.mark.parametrize("group", settings.GROUPS)
def test_every_setting_of_a_group_has_a_row(group: str) -> None:
    sections = {part.split("`")[0]: part for part in PAGES[f"{group}.md"].split("\n## `")[1:]}
    assert sections.keys() == {file.stem for file in (CONF / group).glob("*.yaml")}
    for choice, text in sections.items():
        for name in leaves(yaml.safe_load((CONF / group / f"{choice}.yaml").read_text())):
            prefix = {"operator": "", "hops": "model."}.get(group, f"{group}.")
            assert f"| `{prefix}{name}` |" in text, f"{group}={choice}: {name}"


@pytest.mark.parametrize("command", [file.stem for file in sorted(CONF.glob("*.yaml"))])
def test_every_setting_of_a_command_has_a_row(command: str) -> None:
    page = PAGES["run.md" if command == "train" else "commands.md"]
    for name in leaves(yaml.safe_load((CONF / f"{command}.yaml").read_text())):
        assert f"| `{name}` |" in page, name


def hinted() -> list[tuple[str, Any, Any]]:
    """Each setting with its default and its annotation."""
    train = conf_files.read("train").settings
    found = [(name, train[name], hint) for name, hint in settings.RUN.items()]
    for section, known in settings.SECTIONS.items():
        found += [(f"{section}.{name}", value, known[name]) for name, value in train[section].items()]
    for group in settings.GROUPS:
        for choice in conf_files.group(group):
            known = settings.group_hints(group, choice)
            found += [
                (f"{group}={choice.name}: {name}", value, known[name])
                for name, value in flatten(choice.settings).items()
            ]
    for command, known in commands.HINTS.items():
        found += [
            (f"{command}: {name}", value, known[name]) for name, value in conf_files.read(command).settings.items()
        ]
    return found


@pytest.mark.parametrize(("name", "value", "hint"), hinted(), ids=[name for name, *_ in hinted()])
def test_a_default_is_among_the_values_that_the_page_allows(name: str, value: Any, hint: Any) -> None:
    if value != "???" and "${" not in str(value):
        check(name, value, hint)


def test_the_commands_page_has_every_command_and_its_examples() -> None:
    for script in (REPOSITORY / "src").glob("*.py"):
        assert f"\n## `{script.stem}`\n" in PAGES["commands.md"]
        assert f"python src/{script.stem}.py" in "\n".join(commands.examples(script.stem))


def test_a_table_shows_types_ranges_and_comments() -> None:
    rows = settings.table("x.", {"size": 3, "kind": "a"}, {"size": Count, "kind": str}, {"size": "a|b <c>"})
    assert rows[2:] == ["| `x.size` | `3` | integer ≥ 1 | a\\|b &lt;c> |", "| `x.kind` | `a` | text |  |"]


def test_pages_are_written_once_and_old_ones_removed(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("old")
    reference.write(tmp_path)
    times = {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert times.keys() == PAGES.keys()
    reference.write(tmp_path)
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == times
