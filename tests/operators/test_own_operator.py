"""The operator of the documentation that a user adds works as written."""

import re
from pathlib import Path

import pytest
from common.commands import checkout, command, run_here
from common.paths import REPOSITORY

PAGE = (REPOSITORY / "docs" / "operators.md").read_text()


def example() -> tuple[str, list[str]]:
    """The python block that defines an operator, and the command that uses it."""
    code = next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "(Operator)" in block)
    command = next(line for line in PAGE.splitlines() if line.startswith("SIGN_TRUST="))
    return code, command.split("#")[0].split()


@pytest.mark.slow
def test_the_documented_example_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, (trust, _, *line) = example()
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    (tmp_path / "my_operators.py").write_text(code)
    monkeypatch.setenv("SIGN_TRUST", trust.split("=")[1])
    checkout(tmp_path)
    assert not run_here(tmp_path, *line, "logger=csv", "training.max_epochs=3")
    assert "mine1" in capsys.readouterr().out


def test_a_configuration_alone_cannot_name_foreign_code(tmp_path: Path) -> None:
    code, (_, _, program, *arguments) = example()
    (tmp_path / "my_operators.py").write_text(code)
    result = command(tmp_path, *arguments, program=Path(program).stem)
    assert result.returncode == 1
    assert "set SIGN_TRUST=my_operators in the environment" in result.stderr
