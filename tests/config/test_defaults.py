"""Settings that are chosen by the graph: the rule, and that only ``auto`` is replaced."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from sign.config.configure import CONF
from sign.config.defaults import AUTO, EXAMPLE, NAMES, automatic, choose, explain, resolve
from sign.config.identity import flatten
from sign.config.settings import Settings
from sign.errors import FieldError, SignError
from sign.graph.classification import NodeClassification
from sign.graph.feature_scaling import FeatureScaling

Configured = Callable[..., Settings]
UNSCALED = FeatureScaling("none")
TOY = NodeClassification(
    "toy", "", classes=2, multilabel=False, labels={}, scopes=[], feature_scaling=UNSCALED, profile=EXAMPLE
)


@pytest.fixture
def custom(configured: Configured, tmp_path: Path) -> Configured:
    """Return a function from overrides to the settings of a user's own graph."""
    return lambda *overrides: configured("dataset=custom", f"dataset.path={tmp_path}", *overrides)


def test_more_training_rows_need_less_regularisation() -> None:
    few, more, most = (choose(replace(EXAMPLE, training_rows=rows)) for rows in (100, 1_000, 100_000))
    for name in ("model.input_dropout", "training.weight_decay", "training.patience"):
        assert few[name] >= more[name] >= most[name]
        assert few[name] > most[name]
    assert few["model.inception_units"] < most["model.inception_units"]
    smallest = [choose(replace(EXAMPLE, training_rows=rows))["training.weight_decay"] for rows in (2, 50)]
    assert smallest[0] == smallest[1]


def test_weight_decay_of_multilabel_data_is_per_label() -> None:
    single = choose(replace(EXAMPLE, classes=50))["training.weight_decay"]
    assert choose(replace(EXAMPLE, classes=50, multilabel=True))["training.weight_decay"] == pytest.approx(single / 50)


def test_only_words_are_dropped_and_few_columns_keep_their_length() -> None:
    words, measurements, degree = (
        choose(replace(EXAMPLE, features=features, density=density))
        for features, density in ((1000, 0.01), (1000, 1.0), (1, 1.0))
    )
    chosen = [(values["model.input_dropout"], values["scaling.hops"]) for values in (words, measurements, degree)]
    assert chosen == [(0.5, "l2"), (0.0, "l2"), (0.0, "none")]


def test_every_chosen_value_is_valid(custom: Configured) -> None:
    for rows in (1, 10, 100, 1_000, 10_000, 10_000_000):
        for features, density, signed in ((1, 1.0, True), (5_000, 0.01, False)):
            profile = replace(EXAMPLE, training_rows=rows, features=features, density=density, signed=signed)
            settings = resolve(custom(), replace(TOY, profile=profile))
            assert automatic(settings.config) == []
            assert settings.architecture.inception_units > 0
            assert settings.training.learning_rate > 0
            assert settings.scaling.hops in ("none", "l2")


def test_settings_on_the_command_line_are_kept(custom: Configured) -> None:
    settings = custom("model.dropout=0.123", "scaling.features=none")
    assert not {"model.dropout", "scaling.features"} & {*automatic(settings.config)}
    resolved = resolve(settings, TOY)
    assert resolved.architecture.dropout == 0.123
    assert resolved.scaling.features == "none"
    assert resolved.training.weight_decay == choose(EXAMPLE)["training.weight_decay"]
    assert settings.config["training"]["weight_decay"] == AUTO  # the settings themselves are not changed


def test_the_choice_is_explained_in_one_line_of_overrides(custom: Configured) -> None:
    text = explain(custom("model.dropout=0.1"), TOY)
    assert text.startswith("defaults for 100 training rows, 2 classes, 10 non-negative features of which 10.0% are not")
    assert " model.batch_norm=false " in text
    assert "model.dropout" not in text
    assert "\n" not in text


def test_settings_that_are_not_chosen_yet_cannot_be_used(custom: Configured) -> None:
    with pytest.raises(FieldError, match="=auto: must be"):
        _ = custom().architecture
    assert custom().precomputation.feature_scaling == AUTO  # chosen when the graph is loaded


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.max_epochs=auto", "training.max_epochs=auto: must be an integer"),
        ("model.dropout=2", "model.dropout=2: must be a number"),
        ("scaling.hops=l1", "scaling.hops=l1: choose one of"),
        ("+model.q=1", "model.q: there is no such setting"),
    ],
)
def test_other_settings_are_checked_before_the_graph_is_loaded(custom: Configured, override: str, message: str) -> None:
    with pytest.raises(SignError) as caught:
        custom(override)
    assert str(caught.value).startswith(message)


def test_without_a_graph_nothing_can_be_chosen(configured: Configured, tmp_path: Path) -> None:
    settings = configured("dataset=pack", f"dataset.path={tmp_path}", "model.batch_norm=auto")
    with pytest.raises(SignError, match=r"model.batch_norm=auto: toy has no graph to choose it by; give a value"):
        resolve(settings, replace(TOY, profile=None))


def test_every_model_has_defaults_for_a_custom_graph_and_no_other_data_set_does(configured: Configured) -> None:
    for file in (CONF / "model").glob("*.yaml"):
        assert (CONF / "tuned" / f"custom_{file.stem}.yaml").is_file()
    for file in (CONF / "tuned").glob("*.yaml"):
        tuned = flatten(OmegaConf.to_container(OmegaConf.load(file)))
        chosen = {name for name, value in tuned.items() if value == AUTO}
        assert chosen <= {*NAMES}
        assert file.stem.startswith("custom_") or not chosen
    assert automatic(configured("dataset=communities").config) == []
