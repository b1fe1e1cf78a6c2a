"""Nothing shipped stays untested: every operator has its YAML, formula, doctest and test file."""

from importlib import import_module
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sign.config.configure import CONF
from sign.operators.base import Operator

FILES = sorted((CONF / "operator").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_operator_comes_with_everything(file: Path) -> None:
    config = OmegaConf.load(file)
    module, name = config.pop("_target_").rsplit(".", 1)
    operator = getattr(import_module(module), name)
    assert issubclass(operator, Operator)
    assert ":math:" in operator.__doc__
    assert ">>>" in operator.__doc__
    assert (Path(__file__).parent / f"test_{module.rsplit('.', 1)[1]}.py").is_file()
    assert set(config) == set(operator.__dataclass_fields__), "the YAML shows every field"


def test_every_operator_has_a_yaml() -> None:
    named = {OmegaConf.load(file)._target_ for file in FILES}
    found = set()
    for file in Path(import_module("sign.operators").__file__).parent.glob("*.py"):
        for value in vars(import_module(f"sign.operators.{file.stem}")).values():
            if isinstance(value, type) and issubclass(value, Operator) and value is not Operator:
                found.add(f"{value.__module__}.{value.__name__}")
    assert found == named
