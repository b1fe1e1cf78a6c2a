"""Names and prose use the terms of the field."""

import ast
import re
from pathlib import Path

import pytest
from common.paths import REPOSITORY

PACKAGE = REPOSITORY / "src" / "sign"
# Figures of speech, which may not be part of a name; participles and pronouns, which may not be a whole name.
PARTS = {"company", "tally", "ledger", "filling", "exhibit", "exhibits"}
WHOLE = {"told", "spelled", "given", "made", "alone", "words", "sentence", "turn"}

UNIT = "GPU|node|file|run|trial|epoch|seed|hop|slot|machine|class|split|label"
PHRASES = [
    r"can(?:not)? be had",
    r"at hand",
    r"the first process",
    r"is there twice",
    r"(?:is|are) told",
    r"go(?:es)? on with",
    r"whole or as (?:it was|they were)",
    r"[Nn]obody is",
    r"in a sentence",
    r"sign of life",
    rf"(?:one|a \w+) an? (?:{UNIT})\b",
]
GAP = r"[\s#]+"  # a phrase may continue on the next line of a comment
PROSE = re.compile("|".join(r"\b" + phrase.replace(" ", GAP) for phrase in PHRASES))
TEXTS = [
    *(REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *(
        file
        for folder, ends in (("src", (".py", ".js", ".html")), ("docs", (".md",)), ("conf", (".yaml", ".txt")))
        for file in sorted((REPOSITORY / folder).rglob("*"))
        if file.suffix in ends and "egg-info" not in str(file)
    ),
]


def names(source: str) -> set[str]:
    """Return every name that a module defines: classes, functions, arguments, variables and attributes."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


def banned(name: str) -> bool:
    """Whether a name is, or contains, a word that is not a term of the field."""
    parts = {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)}
    return bool(parts & PARTS) or name.strip("_").lower() in WHOLE


def test_banned_names_and_phrases_are_recognised() -> None:
    assert all(map(banned, ("Ledger", "write_exhibits", "_told", "WORDS", "tally_of")))
    assert not any(map(banned, ("metrics", "told_apart", "return_", "overrides")))
    for text in ("that can be had", "at\n    # hand", "a row an epoch", "one a GPU", "a folder a\ntrial"):
        assert PROSE.search(text), text
    for text in ("one row per epoch", "a machine", "one runner", "a class of a file"):
        assert not PROSE.search(text), text


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_names_are_terms_of_the_field(file: Path) -> None:
    allowed = {"words"} if "datasets" in file.parts else set()  # bags of words; on the command line: overrides
    assert not {name for name in {*names(file.read_text()), file.stem} - allowed if banned(name)}


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: str(file.relative_to(REPOSITORY)))
def test_prose_is_idiomatic(file: Path) -> None:
    assert not [" ".join(match.group().split()) for match in PROSE.finditer(file.read_text())]
