"""The search spaces of the appendix, and the syntax of search spaces."""

import optuna
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from sign.config.configure import CONF
from sign.errors import SignError
from sign.search.space import Space, read_space, suggest


def compose_config(*overrides: str) -> DictConfig:
    with initialize_config_dir(str(CONF)):
        return compose("train", overrides=list(overrides), return_hydra_config=True)


def compose_space(*overrides: str) -> Space:
    return read_space(compose_config(*overrides).hydra.sweeper.params, overrides)


def test_the_inductive_space_is_that_of_the_appendix() -> None:
    space = compose_space("hparams_search=tpe", "dataset=flickr")
    assert space.distributions == {
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
    assert compose_config("hparams_search=tpe", "dataset=flickr").search.runs == 5


@pytest.mark.parametrize(
    "chosen",
    [
        {"training.batch_size": 830, "model.inception_units": 460, "model.classification_units": 675},
        {"training.batch_size": 330, "model.inception_units": 465, "model.classification_units": 925},
        {"training.batch_size": 210, "model.inception_units": 315, "model.classification_units": 870},
    ],
    ids=["reddit", "flickr", "ppi"],
)
def test_the_values_that_the_paper_chose_lie_in_the_space(chosen: dict[str, int]) -> None:
    space = compose_space("hparams_search=tpe", "dataset=flickr").distributions
    distributions = {name: space[name] for name in chosen}
    try:
        trial = optuna.trial.create_trial(value=0.0, params=chosen, distributions=distributions)
    except ValueError as error:
        pytest.fail(f"a value of the paper is outside its distribution: {error}")
    assert trial.params == chosen


def test_yelp_has_the_exceptions_of_the_appendix() -> None:
    space, usual = (compose_space("hparams_search=tpe", f"dataset={name}") for name in ("yelp", "reddit"))
    changed = {name for name, d in usual.distributions.items() if space.distributions.get(name) != d}
    assert changed == {
        "training.learning_rate",
        "training.batch_size",
        "model.dropout",
        "model.classification_layers",
        "model.classification_units",
    }
    assert space.distributions["training.learning_rate"] == FloatDistribution(0.00001, 0.0025)
    assert space.distributions["training.batch_size"] == IntDistribution(60, 2040, step=10)
    assert space.distributions["model.dropout"] == FloatDistribution(0.0, 0.8)
    assert "model.classification_layers=0" in space.overrides


def test_sgcn_is_tuned_in_the_same_space() -> None:
    assert (
        compose_space("hparams_search=tpe", "dataset=ppi", "model=sgcn").distributions
        == compose_space("hparams_search=tpe", "dataset=ppi").distributions
    )


@pytest.mark.parametrize("model", ["gcn_full", "graphsage", "node2vec"])
def test_baselines_are_tuned_in_a_space_of_their_own(model: str) -> None:
    cfg, space = (make("hparams_search=baselines", f"model={model}") for make in (compose_config, compose_space))
    assert cfg.search.trials == 20
    assert {"model.units", "model.dropout", "training.learning_rate"} <= {*space.distributions}
    assert all(OmegaConf.select(cfg, name) is not None for name in space.distributions)


def test_the_transductive_grid_is_that_of_the_appendix() -> None:
    space = compose_space("hparams_search=grid", "dataset=ogbn-products")
    points = space.grid()
    assert len(points) == 2 * 3 * 2 * 2 * 2
    assert len({tuple(point.items()) for point in points}) == len(points)
    assert {point["training.batch_size"] for point in points} == {4096, 8192, 16384}
    assert {"model.dropout=0.5", "model.activation=prelu"} <= set(space.overrides)
    assert compose_config("hparams_search=grid").search.runs == 1


def test_overrides_of_the_command_line_win() -> None:
    params = compose_config("hparams_search=tpe", "dataset=flickr").hydra.sweeper.params
    space = read_space(params, ["dataset=flickr", "model.dropout=0.3", "model.p=2,4", "~model.title"])
    assert "model.dropout" not in space.distributions
    assert space.distributions["model.p"] == CategoricalDistribution([2, 4])
    assert space.highest("model.p") == 4
    assert {"model.dropout=0.3", "~model.title", "dataset=flickr"} <= set(space.overrides)


def test_the_default_configuration_lies_in_the_space_of_its_data_set() -> None:
    cfg = compose_config("hparams_search=tpe")
    point = compose_space("hparams_search=tpe").point_of(cfg)
    assert point["training.learning_rate"] == cfg.training.learning_rate


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["dataset=cora,flickr", "model.p=1,2"], "dataset=cora,flickr: cannot be searched over"),
        (["model.p=3"], "hydra.sweeper.params: the search space is empty"),
        (["model.p=range(3,3)"], "model.p=range(3,3): not a search range"),
        (["model.dropout=interval(0.8,0.2)"], "model.dropout=interval(0.8,0.2): not a search range"),
    ],
)
def test_a_wrong_space_is_explained(overrides: list[str], message: str) -> None:
    with pytest.raises(SignError) as caught:
        read_space({}, overrides)
    assert str(caught.value).startswith(message)


def test_a_baseline_outside_the_space_is_rejected() -> None:
    with pytest.raises(SignError, match=r"model.dropout=0.7: outside the search space"):
        read_space({"model.dropout": "interval(0.1, 0.2)"}, []).point_of(compose_config())


def test_overrides_of_the_command_line_win_with_any_prefix() -> None:
    params = {"training.learning_rate": "interval(0.1, 0.2)", "model.p": "choice(1, 2)", "model.alpha": None}
    space = read_space(params, ["++training.learning_rate=0.001"])
    assert list(space.distributions) == ["model.p"]
    assert space.overrides == ("model.alpha=null", "++training.learning_rate=0.001")


@pytest.mark.parametrize(
    ("sweep", "distribution", "grid"),
    [
        ("1,2,3", CategoricalDistribution([1, 2, 3]), [1, 2, 3]),
        ("choice([1,2],x)", CategoricalDistribution(["[1,2]", "x"]), ["[1,2]", "x"]),
        ("range(10,1,-3)", IntDistribution(4, 10, step=3), [4, 7, 10]),
        ("range(0.1,0.6,0.1)", FloatDistribution(0.1, 0.5, step=0.1), [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("float(range(1,4))", CategoricalDistribution([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]),
        ("int(interval(1.0,3.0))", IntDistribution(1, 3), [1, 2, 3]),
        ("tag(log,interval(0.001,0.1))", FloatDistribution(0.001, 0.1, log=True), None),
    ],
)
def test_each_kind_of_sweep_is_a_distribution(
    sweep: str, distribution: BaseDistribution, grid: list[object] | None
) -> None:
    space = read_space({"x": sweep}, [])
    assert space.distributions == {"x": distribution}
    if grid is None:
        with pytest.raises(SignError, match="an interval has no grid"):
            space.grid()
    else:
        assert [point["x"] for point in space.grid()] == grid


def test_suggested_values_are_those_of_the_distributions() -> None:
    sweeps = {"a": "choice(r,s)", "b": "range(1,9,2)", "c": "tag(log,interval(0.1,9.0))", "d": "range(0,1,0.2)"}
    distributions = read_space(sweeps, []).distributions
    sampler = optuna.samplers.RandomSampler(seed=0)
    suggested = optuna.create_study(sampler=sampler).ask()
    suggest(suggested, distributions)
    sampler = optuna.samplers.RandomSampler(seed=0)
    assert suggested.params == optuna.create_study(sampler=sampler).ask(distributions).params
    assert suggested.distributions == distributions
