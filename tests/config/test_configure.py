"""Everything under conf/ composes; a wrong setting is reported in one line."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from sign.config.configure import CONF, compose, configure, override
from sign.config.settings import Settings
from sign.errors import SignError
from sign.reproduction.experiments import GRAPHS

FILES = [file.relative_to(CONF) for file in sorted(CONF.rglob("*.yaml")) if file.parent != CONF]
GROUPS = (
    *("dataset", "model", "engine", "trainer", "logger", "paths", "smoothing"),
    *("tuned", "experiment", "hparams_search", "debug"),
)
OF_HYDRA = ("hydra/help", "hydra/launcher", "hydra/sweeper")


def pair_of(name: str) -> tuple[str, str]:
    """The data set and the model that a file of ``conf/tuned`` is named after."""
    models = sorted((file.stem for file in (CONF / "model").glob("*.yaml")), key=len, reverse=True)
    model = next(model for model in models if name.endswith(f"_{model}"))
    return name.removesuffix(f"_{model}"), model


@pytest.mark.parametrize("file", FILES, ids=str)
def test_every_yaml_composes(file: Path, tmp_path: Path) -> None:
    group, name = file.parent.as_posix(), file.stem
    override, others = f"{group}={name}", []
    if group == "operator":
        override, others = f"+operator@model.operators.other={name}", ["+model.other=1"]
    if group in ("tuned", "tuned/baselines"):
        graph, model = pair_of(name)
        dataset, _ = GRAPHS.get(graph, (graph, []))
        override, *others = f"dataset={dataset}", f"model={model}", f"tuned={file.relative_to('tuned').with_suffix('')}"
        group = "tuned"
        others += [f"dataset.path={tmp_path}"] * (dataset == "custom")
    if group in ("hparams_search/tpe_for", "hparams_search/hops_for"):
        chosen = f"dataset={name}" if group.endswith("tpe_for") else f"model={name}"
        override, *others = group.replace("/", "=").removesuffix("_for"), chosen
        group = "hparams_search"
    if group == "hops":
        override, group = f"hops@model={name}", "model"
    if group == "dataset":
        others = [
            f"dataset.{name}={tmp_path}"
            for name in re.findall(r"^(\w+): \?\?\?", (CONF / file).read_text(), re.MULTILINE)
        ]
    assert group in (*GROUPS, *OF_HYDRA, "operator"), f"nothing composes conf/{file}"
    settings = configure(compose(override, *others, f"paths.output_dir={tmp_path}"))
    assert settings.dataset.name


def test_every_tuned_file_belongs_to_a_data_set_and_a_model() -> None:
    for file in (CONF / "tuned").glob("*.yaml"):
        dataset, _ = pair_of(file.stem)
        assert dataset in GRAPHS or (CONF / "dataset" / f"{dataset}.yaml").is_file()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("model.p=-1", "model.p=-1: a power must be an integer >= 0; use model.p=0 to leave it out"),
        ("model.p=1.5", "model.p=1.5: a power must be"),
        ("seed=abc", "seed=abc: must be an integer >= 0 and <= 4294967295"),
        ("seed=true", "seed=True: must be an integer"),
        ("dataset.split_seed=-3", "dataset.split_seed=-3: must be an integer >= 0"),
        ("model.dropout=1", "model.dropout=1: must be a number >= 0 and < 1"),
        ("model.activation=tanh", "model.activation=tanh: choose one of relu, prelu"),
        ("model.batch_norm=maybe", "model.batch_norm=maybe: must be true or false"),
        ("training.batch_size=0", "training.batch_size=0: must be an integer >= 1"),
        ("training.monitor=loss", "training.monitor=loss: choose one of val/loss"),
        ("training.threshold=0.4", "training.threshold=0.4: choose one of 0.5, validation"),
        ("search.metric=test/accuracy", "search.metric=test/accuracy: choose one of val/loss"),
        ("scaling.hops=l1", "scaling.hops=l1: choose one of none, l2"),
        ("training.learning_rate=inf", "training.learning_rate=inf: must be a number"),
        ("engine.threads=-1", "engine.threads=-1: must be an integer >= 0"),
        ("store.dtype=int8", "store.dtype=int8: choose one of float32, float16"),
        ("trainer.accelerator=foo", "trainer.accelerator=foo: choose one of auto, cpu"),
        ("+trainer.gpus=2", "trainer.gpus: there is no such setting"),
        ("trainer.devices=0", "trainer.devices=0: must be an integer >= 1"),
        ("+model.q=1", "model.q: there is no such setting"),
        ("+foo=1", "foo: there is no such setting"),
        ("~model.p", "model.p: the operator has no highest power; add one, such as +model.p=1"),
        ("~training.patience", "training.patience: the setting is missing"),
        ("training=null", "training=None: a run needs this section"),
        ("model.operators=null", "model.operators=None: name an operator"),
        ("model.operators.p=null", "model.operators.p=None: names no class"),
        ("model.name=null", "model.name=None: must be a non-empty string"),
        ("paths.output_dir=null", "paths.output_dir=None: must be a non-empty string"),
        ("paths.store_dir=/dev/null/x", "paths.store_dir=/dev/null/x: cannot be written"),
        ("dataset.name=../x", "dataset.name=../x: is used as a folder name"),
        ("model.name=../../x", "model.name=../../x: is used as a folder name"),
        ("model.name='[bold]x'", "model.name=[bold]x: is used as a folder name"),
        ("model.name=/tmp/x", "model.name=/tmp/x: is used as a folder name"),
        (f"model.name={'x' * 101}", f"model.name={'x' * 101}: is used as a folder name"),
        ("++model.operators={../x:1}", "model.operators=../x: is used as a folder name"),
        ("model.title=1", "model.title=1: must be a non-empty string"),
        ("model.p=99999999999999999999", "model.p=99999999999999999999: a power must be <= 1000"),
        ("training.max_epochs=99999999999999999999", "training.max_epochs=99999999999999999999: must be at most"),
        ("training.batch_size=1 model.batch_norm=true", "training.batch_size=1: batch norm needs two rows"),
        ("ckpt_path=nowhere.ckpt", "ckpt_path=nowhere.ckpt: no such file"),
        ("ckpt_path=/", "ckpt_path=/: the folder has no checkpoints/last.ckpt; give a run folder"),
        ("paths.output_dir=/dev/null/x", "paths.output_dir=/dev/null/x: cannot be written"),
        ("dataset._target_=os.system", "dataset._target_=os.system: not a part of SIGN"),
        ("dataset._target_=sign.engines.local.engine.LocalEngine", "dataset"),
        ("model.operators.p.normalization=max", "model.operators.p.normalization=max: choose one of gcn"),
    ],
)
def test_a_wrong_setting_is_reported_in_one_line(
    configured: Callable[..., Settings], override: str, message: str
) -> None:
    with pytest.raises(SignError) as caught:
        configured(*override.split())
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_seed_zero_is_a_seed(configured: Callable[..., Settings]) -> None:
    assert configured("seed=0").seed == 0


@pytest.mark.parametrize("value", ["/a b/c,d", "it's", "x=1", "(1)", "/plain", "1e5", "Null", "inf", 3, None])
def test_an_override_is_read_back_as_the_same_value(value: object) -> None:
    (parsed,) = OverridesParser.create().parse_overrides([override("group", value)])
    assert parsed.value() == value


def test_the_default_is_cora_with_its_tuned_settings(configured: Callable[..., Settings]) -> None:
    tuned = OmegaConf.load(CONF / "tuned" / "cora_sign.yaml")
    settings = configured()
    assert settings.dataset.name == "cora"
    assert settings.powers["p"][1] == tuned.model.p
    assert configured("dataset=communities").powers["p"][1] != tuned.model.p
    assert configured("model.p=2").powers["p"][1] == 2


def test_a_store_that_exists_may_be_read_only(
    configured: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir()
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path / "store")
    assert configured().store.root == str(tmp_path / "store")


@pytest.mark.parametrize(
    ("overrides", "experiment"),
    [
        (("dataset=flickr", "model.p=4", "model.t=1"), "flickr_sign_401"),
        (("dataset=flickr",), "flickr_sign_401"),
        (("dataset=flickr", "model=sgcn"), "flickr_sgcn"),
        (("dataset=reddit",), "reddit_sign_420"),
        (("dataset=ppi",), "ppi_sign_201"),
        (("dataset=yelp", "model=sgcn"), "yelp_sgcn"),
        (("dataset=ogbn-products",), "products_sign_530"),
        (("dataset=ogbn-products", "model=mlp"), "products_mlp"),
        (("dataset=ogbn-papers100M",), "papers100M_sign_333"),
        (("dataset=ogbn-papers100M", "model=sign_directed"), "papers100M_sign_333"),
        (("dataset=ogbn-papers100M", "model=sgcn"), "papers100M_sgcn"),
    ],
)
def test_a_data_set_of_the_paper_has_the_paper_s_settings(overrides: tuple[str, ...], experiment: str) -> None:
    assert compose(*overrides) == compose(f"experiment={experiment}")


def test_an_experiment_keeps_its_hyperparameters_on_another_data_set() -> None:
    ours, paper = compose("experiment=flickr_sign_401", "dataset=shape"), compose("dataset=flickr")
    assert (ours.model, ours.training, ours.scaling) == (paper.model, paper.training, paper.scaling)
