"""The command lines of workers."""

import sys
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from sign.search.command import Program, quoted


@pytest.mark.parametrize("value", ["/a b/c,d", "it's", "x=1", "(1)", "/plain"])
def test_any_folder_can_be_handed_to_a_trial(value: str) -> None:
    (override,) = OverridesParser.create().parse_overrides([f"paths.output_dir={quoted(value)}"])
    assert override.value() == value


@pytest.mark.parametrize(
    ("train", "precompute"), [("train.py", "precompute.py"), ("sign-train", "sign-precompute")]
)
def test_hops_are_computed_by_the_program_beside_train(train: str, precompute: str) -> None:
    program = Program(Path("/bin", train), ("--config-name", "train"), ("hydra.verbose=true",))
    assert program.command(["model.p=1"])[:2] == [sys.executable, f"/bin/{train}"]
    expected = [f"/bin/{precompute}", "--config-name", "train", "hydra.verbose=true", "model.p=1"]
    assert program.precompute_command(["model.p=1"])[1:] == expected


def test_the_folder_of_the_user_stays_on_the_search_path() -> None:
    program = Program(Path("train.py"), ("--config-name", "train", "--config-dir", "/mine"))
    assert program.search_path == ["hydra.searchpath=[file:///mine]"]
    assert Program(Path("train.py")).search_path == []
