"""What a user types reaches Hydra as it is meant, or is refused with the spelling that was meant."""

import pytest
from hydra._internal.utils import get_args_parser
from omegaconf import OmegaConf

from sign.config.configure import compose
from sign.config.overrides import FLAGS, check_flags, expand_home, normalize_override
from sign.errors import SignError


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("dataset.path=~/graphs", "dataset.path=/home/me/graphs"),
        ("folders=[~/a,~/b]", "folders=[/home/me/a,/home/me/b]"),
        ("ckpt_path=~", "ckpt_path=/home/me"),
        ("~model.title", "~model.title"),
        ("group=a~b", "group=a~b"),
        ("paths.data_dir=~nobody.at.all/x", "paths.data_dir=~nobody.at.all/x"),
        ("experiment=null", "~experiment"),
        ("hparams_search=null", "~hparams_search"),
        ("dataset=null", "dataset='null'"),
        ("model=1e5", "model='1e5'"),
        ("+operator@model.operators.z=true", "+operator@model.operators.z='true'"),
        ("group=null", "group=null"),
        ("seed=1", "seed=1"),
        ("tuned=cora_sign.yaml,custom_sign.yaml", "tuned=cora_sign,custom_sign"),
        ("dataset.path=my.yaml", "dataset.path=my.yaml"),
        ("(" * 300, "(" * 300),
        ("a" * 300 + "=1", "a" * 300 + "=1"),
        ("/tmp=1", "/tmp=1"),
    ],
)
def test_an_override_is_normalized(text: str, meant: str) -> None:
    assert normalize_override(text) == meant


@pytest.mark.parametrize("text", ["tuned=null,cora_sign", "experiment=cora_public,null"])
def test_null_is_not_one_of_several_choices(text: str) -> None:
    with pytest.raises(SignError, match=r"null cannot be one of several choices; start a command of its own with"):
        normalize_override(text)


def test_paths_below_the_home_folder_are_expanded_wherever_they_are_set() -> None:
    cfg = compose("dataset=custom", "dataset.path=~/graphs", "paths.store_dir='~/store'")
    assert (cfg.dataset.path, cfg.store.root) == ("/home/me/graphs", "/home/me/store")
    own = OmegaConf.create({"paths": {"output_dir": "~/out"}, "folders": ["~/a", 1], "group": "a ~ b", "trial": None})
    expand_home(own)
    assert own.paths == {"output_dir": "/home/me/out"}
    assert (own.folders, own.group, own.trial) == (["/home/me/a", 1], "a ~ b", None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "4"], "-p 4: not a flag; settings are written name=value: model.p=4"),
        (["-p4"], "-p4: not a flag; settings are written name=value: model.p=4"),
        (["--package", "4"], "--package 4: selects what --cfg shows; use it with --cfg job"),
        (["seed=1", "-s", "2"], "-s 2: not a flag; settings are written name=value: model.s=2"),
        (["-t=1"], "-t=1: not a flag; settings are written name=value: model.t=1"),
        (["--dropout", "0.3"], "--dropout 0.3: not a flag; settings are written name=value: model.dropout=0.3"),
        (["--model.p", "seed=1"], "--model.p: not a flag; settings are written name=value: model.p=…"),
        (["--multi"], "--multi: no such flag; did you mean --multirun?"),
        (["-c", "nope"], "-c nope: choose one of job, hydra, all"),
        (["--cfg="], "--cfg : choose one of job, hydra, all"),
        (["-x"], "-x: no such flag; settings are written name=value"),
    ],
)
def test_a_setting_with_dashes_is_answered_with_its_name(arguments: list[str], message: str) -> None:
    with pytest.raises(SignError) as caught:
        check_flags(arguments, "train")
    assert str(caught.value) == message


def test_flags_of_hydra_are_accepted() -> None:
    check_flags([*FLAGS, "--config-dir=x", "seed=-1"], "train")
    check_flags(["--cfg", "job", "-p", "model"], "train")


def test_the_flags_are_those_of_hydra() -> None:
    assert set(FLAGS) == set(get_args_parser()._option_string_actions)
