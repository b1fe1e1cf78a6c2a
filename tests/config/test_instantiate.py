"""Only classes on the allow-list are instantiated, and sections become dataclasses that check themselves."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sign.config.instantiate import TRUST, allowed_targets, build, instantiate_section, writable_folder
from sign.datasets.base import Dataset
from sign.datasets.cora import Cora
from sign.engines.base import Engine
from sign.errors import SignError
from sign.validation import Count, Validated

CORA = {"_target_": "sign.datasets.cora.Cora", "split_seed": 3}


def test_a_section_becomes_the_object_that_it_names() -> None:
    assert instantiate_section(OmegaConf.create({"dataset": CORA}), "dataset", Dataset) == Cora(split_seed=3)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"_target_": "os.system", "command": "true"}, "dataset._target_=os.system: not a part of SIGN"),
        ({"_target_": "builtins.eval"}, "dataset._target_=builtins.eval: not a part of SIGN"),
        ({"_target_": "sign.runs.Run"}, "dataset._target_=sign.runs.Run: not a part of SIGN"),
        ({**CORA, "extra": {"_target_": "os.getcwd"}}, "dataset.extra._target_=os.getcwd: not a part"),
        ({"_target_": "sign.datasets.nowhere.X"}, "dataset: "),
        ({**CORA, "split_seed": -1}, "dataset.split_seed=-1: must be an integer >= 0"),
        ({**CORA, "split_sed": 1}, "dataset.split_sed: there is no such setting; did you mean dataset.split_seed?"),
        ({"_target_": "sign.engines.local.engine.LocalEngine"}, "dataset._target_=sign.engines"),
        ({"name": "cora"}, "dataset={'name': 'cora'}: names no class"),
    ],
)
def test_everything_else_is_refused_in_one_line(section: dict, message: str) -> None:
    with pytest.raises(SignError) as caught:
        instantiate_section(OmegaConf.create({"dataset": section}), "dataset", Dataset)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_the_environment_allows_modules_when_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    cfg = OmegaConf.create({"engine": {"_target_": "types.SimpleNamespace"}})
    assert not any(pattern.startswith("types") for pattern in allowed_targets())
    monkeypatch.setenv(TRUST, "types,other")
    assert {"types.*", "other.*"} < set(allowed_targets())
    with pytest.raises(SignError, match="is not a subclass of Engine"):
        instantiate_section(cfg, "engine", Engine)


@dataclass(frozen=True)
class Section(Validated):
    layers: Count


def test_a_dataclass_is_built_from_exactly_its_fields() -> None:
    assert build("model", Section, {"layers": 2}) == Section(2)
    with pytest.raises(SignError, match=r"model.colour: there is no such setting"):
        build("model", Section, {"layers": 2, "colour": 1})
    with pytest.raises(SignError, match=r"model.layers: the setting is missing"):
        build("model", Section, {})
    with pytest.raises(SignError, match=r"model.layers=0: must be an integer >= 1"):
        build("model", Section, {"layers": 0})


def test_a_folder_is_created_or_refused(tmp_path: Path) -> None:
    assert writable_folder("paths.output_dir", tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(SignError, match=r"paths.output_dir=.*file: cannot be written"):
        writable_folder("paths.output_dir", tmp_path / "file")
