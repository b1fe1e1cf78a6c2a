"""The search spaces of the appendix, and what is tried next."""

import math
from statistics import mean

import optuna
import pytest
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from sign.config.configure import CONF
from sign.errors import SignError
from sign.search.command import quoted
from sign.search.sampler import make_sampler
from sign.search.space import Space, read_space


def composed(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(CONF)):
        return compose("train", overrides=list(overrides), return_hydra_config=True)


def space(*overrides: str) -> Space:
    return read_space(composed(*overrides).hydra.sweeper.params, overrides)


def test_the_inductive_space_is_that_of_the_appendix() -> None:
    found = space("hparams_search=tpe", "dataset=flickr")
    assert found.distributions == {
        "training.learning_rate": FloatDistribution(0.0001, 0.0025),
        "training.batch_size": IntDistribution(130, 2040, step=10),
        "training.weight_decay": FloatDistribution(0.0, 0.0001),
        "model.dropout": FloatDistribution(0.2, 0.8),
        "model.inception_layers": CategoricalDistribution([1, 2]),
        "model.inception_units": IntDistribution(130, 510, step=5),
        "model.classification_layers": CategoricalDistribution([1, 2]),
        "model.classification_units": IntDistribution(515, 1020, step=5),
        "model.activation": CategoricalDistribution(["relu", "prelu"]),
    }
    assert composed("hparams_search=tpe", "dataset=flickr").search.runs == 5


@pytest.mark.parametrize(
    "chosen",
    [
        {"training.batch_size": 830, "model.inception_units": 460, "model.classification_units": 675},
        {"training.batch_size": 330, "model.inception_units": 465, "model.classification_units": 925},
        {"training.batch_size": 210, "model.inception_units": 315, "model.classification_units": 870},
    ],
    ids=["reddit", "flickr", "ppi"],
)
def test_what_the_paper_chose_lies_in_the_space(chosen: dict[str, int]) -> None:
    found = space("hparams_search=tpe", "dataset=flickr").distributions
    assert all(found[name]._contains(value) for name, value in chosen.items())


def test_yelp_has_the_exceptions_of_the_appendix() -> None:
    found, usual = (space("hparams_search=tpe", f"dataset={name}") for name in ("yelp", "reddit"))
    changed = {name for name, d in usual.distributions.items() if found.distributions.get(name) != d}
    assert changed == {
        "training.learning_rate",
        "training.batch_size",
        "model.dropout",
        "model.classification_layers",
        "model.classification_units",
    }
    assert found.distributions["training.learning_rate"] == FloatDistribution(0.00001, 0.0025)
    assert found.distributions["training.batch_size"] == IntDistribution(60, 2040, step=10)
    assert found.distributions["model.dropout"] == FloatDistribution(0.0, 0.8)
    assert "model.classification_layers=0" in found.words


def test_sgcn_is_tuned_in_the_same_space() -> None:
    assert (
        space("hparams_search=tpe", "dataset=ppi", "model=sgcn").distributions
        == space("hparams_search=tpe", "dataset=ppi").distributions
    )


def test_the_transductive_grid_is_that_of_the_appendix() -> None:
    found = space("hparams_search=grid", "dataset=ogbn-products")
    points = found.grid()
    assert len(points) == 2 * 3 * 2 * 2 * 2
    assert len({tuple(point.items()) for point in points}) == len(points)
    assert {point["training.batch_size"] for point in points} == {4096, 8192, 16384}
    assert {"model.dropout=0.5", "model.activation=prelu"} <= set(found.words)
    assert composed("hparams_search=grid").search.runs == 1


def test_words_of_the_command_line_win() -> None:
    params = composed("hparams_search=tpe", "dataset=flickr").hydra.sweeper.params
    found = read_space(params, ["dataset=flickr", "model.dropout=0.3", "model.p=2,4", "~model.title"])
    assert "model.dropout" not in found.distributions
    assert found.distributions["model.p"] == CategoricalDistribution([2, 4])
    assert found.highest("model.p") == 4
    assert {"model.dropout=0.3", "~model.title", "dataset=flickr"} <= set(found.words)


def test_the_default_configuration_lies_in_the_space_of_its_data_set() -> None:
    cfg = composed("hparams_search=tpe")
    point = space("hparams_search=tpe").point_of(cfg)
    assert point["training.learning_rate"] == cfg.training.learning_rate


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dataset=cora,flickr", "model.p=1,2"], "dataset=cora,flickr: a search is about one"),
        (["model.p=3"], "hydra.sweeper.params: nothing is searched"),
        (["model.dropout=interval(0.8,0.2)"], "model.dropout=interval(0.8,0.2): cannot be searched"),
    ],
)
def test_a_wrong_space_gets_one_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(SignError) as caught:
        read_space({}, words)
    assert str(caught.value).startswith(sentence)


def test_a_configuration_outside_the_space_is_no_first_trial() -> None:
    with pytest.raises(SignError, match=r"model.dropout=0.7: not in the space that is searched"):
        read_space({"model.dropout": "interval(0.1, 0.2)"}, []).point_of(composed())


def hills(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    z = trial.suggest_float("z", 1e-5, 1e-1, log=True)
    return (
        (x - 2) ** 2
        + (y + 1) ** 2
        + (math.log10(z) + 3) ** 2
        + 2 * (trial.suggest_categorical("c", "ab") == "b")
    )


def test_the_sampler_is_tpe_and_beats_random_search() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    random = composed("hydra/sweeper=study", "hydra/sweeper/sampler=random")
    nodes = [composed("hparams_search=tpe", "dataset=flickr"), random]
    lowest: list[list[float]] = [[], []]
    for seed in range(6):
        for node, found in zip(nodes, lowest, strict=True):
            node.hydra.sweeper.sampler.seed = 1000 * seed
            study = optuna.create_study(sampler=make_sampler(node.hydra.sweeper.sampler, 0))
            study.optimize(hills, n_trials=50)
            found.append(study.best_value)
    assert mean(lowest[0]) < mean(lowest[1])


def test_searches_that_join_later_draw_other_values() -> None:
    node = composed("hparams_search=tpe").hydra.sweeper.sampler
    studies = [optuna.create_study(sampler=make_sampler(node, trials)) for trials in (0, 0, 1)]
    drawn = [study.ask({"x": FloatDistribution(0, 1)}).params["x"] for study in studies]
    assert drawn[0] == drawn[1] != drawn[2]
    assert studies[0].sampler._constant_liar


@pytest.mark.parametrize("value", ["/a b/c,d", "it's", "x=1", "(1)", "/plain"])
def test_any_folder_can_be_handed_to_a_trial(value: str) -> None:
    (override,) = OverridesParser.create().parse_overrides([f"paths.output_dir={quoted(value)}"])
    assert override.value() == value


def test_words_of_the_command_line_win_however_they_are_written() -> None:
    params = {"training.learning_rate": "interval(0.1, 0.2)", "model.p": "choice(1, 2)", "model.alpha": None}
    found = read_space(params, ["++training.learning_rate=0.001"])
    assert list(found.distributions) == ["model.p"]
    assert found.words == ("model.alpha=null", "++training.learning_rate=0.001")
