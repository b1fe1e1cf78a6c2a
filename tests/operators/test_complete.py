"""Nothing shipped stays untested: every operator has its name, YAML, formula, doctest and test file."""

from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
from common.operators import shipped_operators
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
    assert set(config) == {field.name for field in fields(operator)}, "the YAML shows every field"


def test_every_operator_has_a_yaml() -> None:
    targets = {OmegaConf.load(file)._target_ for file in FILES}
    assert {f"{kind.__module__}.{kind.__name__}" for kind in shipped_operators()} == targets


def test_every_operator_has_a_name_of_its_own() -> None:
    operators = shipped_operators()
    assert all("name" in vars(kind) and kind.name != kind.__name__ for kind in operators)
    assert len({kind.name for kind in operators}) == len(operators)
