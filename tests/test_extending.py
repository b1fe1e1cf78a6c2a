"""The recipes of docs/extending.md work as they are written."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from common.commands import command
from common.paths import REPOSITORY

TEXT = (REPOSITORY / "docs" / "extending.md").read_text()
BLOCKS = re.findall(r"^```(python|yaml|bash)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [text.strip() for language, text in BLOCKS if language == "bash"]


def write_files(folder: Path) -> None:
    """Write the files that the recipes name in their first lines; parts of one file are appended."""
    for language, text in BLOCKS:
        if language != "bash":
            file = folder / text.partition("\n")[0].removeprefix("# ")
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a") as stream:
                stream.write(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "commands",
    [COMMANDS[:1], [*COMMANDS[1:3], *COMMANDS[4:]], COMMANDS[3:4]],
    ids=["operator", "dataset-head-engine", "model"],
)
def test_a_recipe_runs_as_it_is_written(commands: list[str], tmp_path: Path) -> None:
    """The data set, the head and the engine are run by one command, which has the overrides of all."""
    write_files(tmp_path)
    (trust,) = {shlex.split(command)[0] for command in commands}
    overrides = list(dict.fromkeys(word for command in commands for word in shlex.split(command)[3:]))
    overrides += ["training.max_epochs=2", "logger=csv"]
    environment = os.environ | dict([trust.split("=")])
    train = [sys.executable, str(REPOSITORY / "src" / "train.py"), *overrides]
    result = subprocess.run(train, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-2000:]
    assert list(tmp_path.glob("outputs/*/*/*/metrics.json"))


def test_a_configuration_alone_cannot_name_foreign_code(tmp_path: Path) -> None:
    write_files(tmp_path)
    trust, _, program, *arguments = shlex.split(COMMANDS[0])
    result = command(tmp_path, *arguments, program=Path(program).stem)
    assert result.returncode == 1
    assert f"set {trust} in the environment" in result.stderr


def test_there_is_a_recipe_for_each_part() -> None:
    assert len(COMMANDS) == 5
    assert all(command.startswith("SIGN_TRUST=my_sign python src/train.py") for command in COMMANDS)
