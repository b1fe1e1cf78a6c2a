"""Optuna's samplers and pruners as they are configured."""

import math
from statistics import mean

import optuna
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from optuna.distributions import FloatDistribution

from sign.config.configure import CONF
from sign.errors import SignError
from sign.search.sampler import make_pruner, make_sampler


def compose_search(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(CONF)):
        return compose("train", overrides=list(overrides), return_hydra_config=True)


def hills(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    z = trial.suggest_float("z", 1e-5, 1e-1, log=True)
    return (x - 2) ** 2 + (y + 1) ** 2 + (math.log10(z) + 3) ** 2 + 2 * (trial.suggest_categorical("c", "ab") == "b")


def test_the_sampler_is_tpe_and_beats_random_search() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    random = compose_search("hydra/sweeper=study", "hydra/sweeper/sampler=random")
    nodes = [compose_search("hparams_search=tpe", "dataset=flickr"), random]
    lowest: list[list[float]] = [[], []]
    for seed in range(6):
        for node, values in zip(nodes, lowest, strict=True):
            node.hydra.sweeper.sampler.seed = 1000 * seed
            study = optuna.create_study(sampler=make_sampler(node.hydra.sweeper.sampler, 0))
            study.optimize(hills, n_trials=50)
            values.append(study.best_value)
    assert mean(lowest[0]) < mean(lowest[1])


def test_the_seed_depends_on_the_number_of_the_trial() -> None:
    node = compose_search("hparams_search=tpe").hydra.sweeper.sampler
    studies = [optuna.create_study(sampler=make_sampler(node, trials)) for trials in (0, 0, 1)]
    drawn = [study.ask({"x": FloatDistribution(0, 1)}).params["x"] for study in studies]
    assert drawn[0] == drawn[1] != drawn[2]


def test_concurrent_trials_are_known_to_the_sampler() -> None:
    assert compose_search("hparams_search=tpe").hydra.sweeper.sampler.constant_liar


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        ({"_target_": "optuna.samplers.TPESampler", "seeds": 1}, "seeds"),
        ({"_target_": "optuna.create_study"}, "hydra.sweeper.sampler"),
        ({"_target_": "os.system"}, r"by the Hydra execution whitelist because it .* from config instead\.$"),
        ({"_target_": "optuna.samplers.nsgaii.UniformCrossover"}, "not a sampler of Optuna"),
    ],
)
def test_a_wrong_sampler_is_explained(sampler: dict, message: str) -> None:
    with pytest.raises(SignError, match=message):
        make_sampler(OmegaConf.create(sampler), 0)


def test_pruners_by_name() -> None:
    kinds = [type(make_pruner(name, 10)).__name__ for name in ("none", "median", "hyperband")]
    assert kinds == ["NopPruner", "MedianPruner", "HyperbandPruner"]
