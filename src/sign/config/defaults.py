"""Defaults for a graph that nobody has tuned: settings with the value ``auto`` are chosen from what is known of it.

docs/defaults.md explains the rule and has the measurements behind it; ``conf/tuned/custom_*.yaml`` uses it.
"""

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sign.config.settings import Settings
from sign.errors import SignError
from sign.graph.classification import NodeClassification
from sign.graph.feature_scaling import choose_scaling
from sign.graph.profile import Profile

AUTO = "auto"
MANY_ROWS = 1000  # training rows from which an epoch has several batches
DECAY = 0.3  # weight decay times training rows: a prior counts less, the more data there are
MAX_DECAY = 0.005  # of the smallest graphs
MIN_DIRECTIONS = 4  # columns from which the direction of a row tells more than its length


def choose(profile: Profile) -> dict[str, Any]:
    """Return the values of all settings that may be ``auto``, by their dotted names."""
    many = profile.training_rows >= MANY_ROWS
    features = choose_scaling(profile)
    decay = min(MAX_DECAY, DECAY / profile.training_rows)
    if profile.multilabel:  # whose loss is a mean over labels, each of which has weights of its own
        decay /= profile.classes
    return {
        "model.inception_units": 256 if many else 128,
        "model.units": 256 if many else 128,  # of the other heads
        "model.input_dropout": (0.2 if many else 0.5) if features == "row_sum" else 0.0,  # words stand for each other
        "model.batch_norm": False,
        "training.weight_decay": float(f"{decay:.1g}"),
        "training.patience": 15 if many else 30,
        "scaling.features": features,
        "scaling.hops": "l2" if profile.features >= MIN_DIRECTIONS else "none",
    }


EXAMPLE = Profile(
    training_rows=100, classes=2, multilabel=False, features=10, density=0.1, signed=False, column_ratio=1
)
NAMES = tuple(choose(EXAMPLE))


def automatic(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that a configuration leaves to the rule."""
    return [name for name in NAMES if _value(config, name) == AUTO]


def with_defaults(config: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """Return a configuration in which every ``auto`` is replaced by the value that suits a graph."""
    chosen, copied = choose(profile), copy.deepcopy(dict(config))
    for name in automatic(config):
        section, _, key = name.partition(".")
        copied[section][key] = chosen[name]
    return copied


def resolve(settings: Settings, classification: NodeClassification) -> Settings:
    """Return settings without any ``auto``; the same ones if they have none."""
    names = automatic(settings.config)
    if not names:
        return settings
    if classification.profile is None:
        raise SignError(f"{names[0]}=auto: {classification.name} has no graph to choose it by; give a value")
    return replace(settings, config=with_defaults(settings.config, classification.profile))


def explain(settings: Settings, classification: NodeClassification) -> str:
    """Return the settings that :func:`resolve` chooses, as overrides, and what they were chosen by."""
    config = resolve(settings, classification).config
    chosen = [f"{name}={_text(_value(config, name))}" for name in automatic(settings.config)]
    return f"defaults for {classification.profile}: {' '.join(chosen)}"


def _value(config: Mapping[str, Any], name: str) -> Any:
    section, _, key = name.partition(".")
    return config[section].get(key)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value}"
