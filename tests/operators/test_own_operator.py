"""The operator of the documentation that a user adds works as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from common.paths import REPOSITORY

PAGE = (REPOSITORY / "docs" / "operators.md").read_text()


def example() -> tuple[str, list[str]]:
    """The python block that defines an operator, and the command that uses it."""
    code = next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "(Operator)" in block)
    command = next(line for line in PAGE.splitlines() if line.startswith("SIGN_TRUST="))
    return code, command.split("#")[0].split()


def run(folder: Path, command: list[str], **environment: str) -> subprocess.CompletedProcess:
    arguments = [sys.executable, str(REPOSITORY / command[0]), *command[1:], "logger=csv", "training.max_epochs=3"]
    return subprocess.run(arguments, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment})


@pytest.mark.slow
def test_the_documented_example_trains(tmp_path: Path) -> None:
    code, (trust, _, *command) = example()
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    (tmp_path / "my_operators.py").write_text(code)
    result = run(tmp_path, command, SIGN_TRUST=trust.split("=")[1])
    assert result.returncode == 0, result.stderr
    assert "mine1" in result.stdout


def test_a_configuration_alone_cannot_name_foreign_code(tmp_path: Path) -> None:
    code, (_, _, *command) = example()
    (tmp_path / "my_operators.py").write_text(code)
    result = run(tmp_path, command)
    assert result.returncode == 1
    assert "set SIGN_TRUST=my_operators in the environment" in result.stderr
