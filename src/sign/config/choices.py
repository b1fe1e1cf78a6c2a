"""Choices of groups (``dataset=cora``) and names of settings: which exist, and which were meant."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader

from sign.errors import SignError, did_you_mean
from sign.runs import CONFIG
from sign.system.program import CONF

# groups of which a configuration takes by default the file for its data set and model, if there is any
IF_ANY = {"tuned": "{dataset}_{model}", "hparams_search/tpe_for": "{dataset}"}


def check_choices(hydra: Any, loader: ConfigLoader) -> None:
    """Raise unless every choice of a composed configuration exists; ``hydra`` is its section of that name.

    Hydra itself skips a missing file of an optional group, and every missing file when it composes for ``-m``.
    """
    choices, sources = hydra.runtime.choices, loader.get_sources()
    added = [Path(source.path) for source in hydra.runtime.config_sources if source.schema == "file"]
    named = {line.partition("=")[0] for line in hydra.overrides.task}
    for key, choice in chosen_names(hydra, loader):
        group = key.partition("@")[0]
        if any(source.is_config(f"{group}/{choice}") for source in sources):
            continue
        if any((folder / group / f"{choice}.yaml").is_file() for folder in added):  # hydra.searchpath
            continue
        if key not in named and choice == IF_ANY.get(group, "").format(**choices):
            continue
        raise no_such_choice(f"{key}={choice}", choice, loader.get_group_options(group))


def chosen_names(hydra: Any, loader: ConfigLoader) -> Iterator[tuple[str, str]]:
    """Iterate over groups and the names that are chosen of them.

    Hydra does not list several choices of one group (``tuned=[a,b]``) among the choices.
    """
    for key, choice in hydra.runtime.choices.items():
        if isinstance(choice, str):
            yield key, choice
    for line in hydra.overrides.task:
        key, _, value = line.partition("=")
        if value.startswith("[") and loader.get_group_options(key.partition("@")[0]):
            yield from ((key, name) for name in re.split(r"[\[\],\s'\"]+", value) if name)


def settings_origin(hydra: Any, run: Path | None) -> str:
    """Say where the settings of a command come from; ``run`` is the folder of the run that it resumes, if any."""
    choices, overrides = hydra.runtime.choices, " ".join(hydra.overrides.task)
    tuned = CONF / "tuned" / f"{choices.get('tuned')}.yaml"
    origin = ["conf/train.yaml (no tuned settings)"]
    if run:
        origin = [str(run / CONFIG)]
    elif tuned.is_file():
        origin = [str(tuned.relative_to(CONF.parent))]
    elif "tuned" in overrides:  # off, or a file of --config-dir
        origin = ["conf/train.yaml"]
    origin += [f"experiment {choices.experiment}"] if choices.get("experiment") else []
    origin += [f"overrides {overrides}"] if overrides else []
    return "; ".join(origin)


def no_such_choice(override: str, name: str, options: Iterable[str]) -> SignError:
    """Return the error for a choice that does not exist; it names the nearest ones, or else all."""
    options = sorted(options)
    meant = did_you_mean(name, options) if name != "null" else None  # nothing was misspelled
    advice = meant or f"choose one of {', '.join(options)}"
    return SignError(f"{override}: no such choice; {advice}")


def no_such_setting(name: str, settings: Iterable[str]) -> SignError:
    """Return the error for a setting that does not exist; it names the nearest ones, but not the section of the name.

    ``settings`` may contain sections.
    """
    settings = sorted(settings)
    sections = {setting for setting in settings if any(other.startswith(f"{setting}.") for other in settings)}
    if value := next((key for key in settings if name.startswith(f"{key}.") and key not in sections), None):
        return SignError(f"{name}: there is no such setting; {value} is a value, not a section")
    shown = (
        set(settings) - {name} if "." not in name else {key for key in settings if "." in key or key not in sections}
    )
    others = [setting for setting in sorted(shown) if not name.startswith(f"{setting}.")]
    return SignError(f"{name}: there is no such setting; {did_you_mean(name, others) or '--help shows all'}")
