"""A choice that does not exist is an error, and the log says where the settings come from."""

from pathlib import Path
from typing import Any

import hydra
import pytest
from hydra.errors import MissingConfigException

from sign.config.choices import settings_origin
from sign.config.configure import compose
from sign.config.overrides import CONF, normalize_override
from sign.errors import SignError, did_you_mean


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["tuned=cora_sgin"], "tuned=cora_sgin: no such choice; did you mean cora_sgcn, cora_sign"),
        (["dataset=communities", "tuned=communities_sign"], "tuned=communities_sign: no such choice; did you mean"),
        (["tuned=zzz"], "tuned=zzz: no such choice; choose one of amazon_mlp, "),
        (["tuned=[cora_sgin]"], "tuned=cora_sgin: no such choice; did you mean cora_sgcn, cora_sign"),
        (["tuned=[cora_sign,cora_sgin]"], "tuned=cora_sgin: no such choice; did you mean cora_sgcn, cora_sign"),
    ],
)
def test_named_tuned_settings_exist(overrides: list[str], message: str) -> None:
    with pytest.raises(SignError) as caught:
        compose(*overrides)
    assert str(caught.value).startswith(message)


def test_tuned_settings_that_an_experiment_names_exist(tmp_path: Path) -> None:
    for group in ("experiment", "tuned"):
        (tmp_path / group).mkdir()
    mine = "# @package _global_\ndefaults:\n  - override /tuned: mine\n"
    (tmp_path / "experiment" / "mine.yaml").write_text(mine)
    with pytest.raises(SignError, match="tuned=mine: no such choice"):
        compose("experiment=mine", f"hydra.searchpath=[{tmp_path}]")
    (tmp_path / "tuned" / "mine.yaml").write_text("# @package _global_\nmodel: {p: 7}\n")
    assert compose("experiment=mine", f"hydra.searchpath=[{tmp_path}]").model.p == 7


@pytest.mark.parametrize("group", ["experiment", "hparams_search", "dataset", "model", "operator@model.operators.s"])
def test_a_choice_of_any_group_exists(group: str) -> None:
    with pytest.raises(MissingConfigException):
        compose(f"{group}=nope")


def test_a_pair_without_tuned_settings_composes() -> None:
    assert compose("dataset=communities").dataset.name == "communities"


def test_a_search_on_a_data_set_without_exceptions_composes() -> None:
    assert compose("hparams_search=tpe", "dataset=communities").search.trials == 100


def test_tuned_settings_can_be_switched_off() -> None:
    untuned, sign = compose("tuned=null"), hydra_of("~tuned")["model"]
    assert untuned.model.p == sign.p == 3
    assert compose("experiment=null", "hparams_search=null") == compose()


def hydra_of(*overrides: str) -> Any:
    """A composed configuration with the section ``hydra``."""
    with hydra.initialize_config_dir(str(CONF)):
        return hydra.compose("train", overrides=list(map(normalize_override, overrides)), return_hydra_config=True)


@pytest.mark.parametrize(
    ("overrides", "origin"),
    [
        ([], "conf/tuned/cora_sign.yaml"),
        (
            ["dataset=flickr", "model.p=4", "model.t=1"],
            "conf/tuned/flickr_sign.yaml; overrides dataset=flickr model.p=4 model.t=1",
        ),
        (
            ["experiment=flickr_sign_401"],
            "conf/tuned/flickr_sign.yaml; experiment flickr_sign_401; overrides experiment=flickr_sign_401",
        ),
        (["dataset=communities"], "conf/train.yaml (no tuned settings); overrides dataset=communities"),
        (["tuned=null"], "conf/train.yaml; overrides ~tuned"),
    ],
)
def test_the_origin_of_the_settings(overrides: list[str], origin: str) -> None:
    assert settings_origin(hydra_of(*overrides).hydra, None) == origin


def test_the_settings_of_a_resumed_run_are_its_own() -> None:
    hydra = hydra_of("ckpt_path=a").hydra
    assert settings_origin(hydra, Path("outputs/a")) == "outputs/a/config.yaml; overrides ckpt_path=a"


@pytest.mark.parametrize(
    ("name", "choices", "question"),
    [
        ("tep", ["grid", "tpe"], "did you mean tpe?"),
        ("epochs", ["training.max_epochs", "training.patience"], "did you mean training.max_epochs?"),
        ("cora", [], ""),
        ("zzz", ["cora"], ""),
    ],
)
def test_the_nearest_choices_are_suggested(name: str, choices: list[str], question: str) -> None:
    assert did_you_mean(name, choices) == question
