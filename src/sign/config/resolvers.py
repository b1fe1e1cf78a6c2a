"""Functions that the files of ``conf/`` call: ``${command:train}`` and ``${case:${dataset.labels},{tags:1}}``."""

from collections.abc import Mapping
from typing import Any

from omegaconf import OmegaConf

from sign.system.program import command_line


def register_resolvers() -> None:
    """Register the functions with OmegaConf, before a configuration is composed."""
    OmegaConf.register_resolver("command", command_line, replace=True)  # of the examples of --help
    OmegaConf.register_resolver("case", case, replace=True)  # of settings that were tuned for each task of a data set


def case(value: str, cases: Mapping[str, Any]) -> Any:
    """Return the case of a value. Of another value it is the first one: the data set, built later, refuses it.

    >>> case("tags", {"sections": 0.5, "tags": 0.2}), case("nope", {"sections": 0.5, "tags": 0.2})
    (0.2, 0.5)
    """
    return cases[value] if value in cases else next(iter(cases.values()))
