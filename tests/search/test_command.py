"""The command lines of workers."""

from pathlib import Path

import pytest

from sign.search.command import Program


@pytest.mark.parametrize(("train", "precompute"), [("train.py", "precompute.py"), ("sign-train", "sign-precompute")])
def test_hops_are_computed_by_the_program_beside_train(train: str, precompute: str) -> None:
    program = Program(Path("/bin", train), ("--config-name", "train"), ("hydra.verbose=true",))
    assert program.command(["model.p=1"])[0] == f"/bin/{train}"
    expected = [f"/bin/{precompute}", "--config-name", "train", "hydra.verbose=true", "model.p=1"]
    assert program.command(["model.p=1"], "precompute") == expected


def test_the_folder_of_the_user_stays_on_the_search_path() -> None:
    program = Program(Path("train.py"), ("--config-name", "train", "--config-dir", "/mine"))
    assert program.search_path == ["hydra.searchpath=[file:///mine]"]
    assert Program(Path("train.py")).search_path == []
