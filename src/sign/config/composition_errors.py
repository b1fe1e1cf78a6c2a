"""Errors of Hydra while a configuration is composed, each as one line: what is wrong, which value, what to do."""

import re
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue

from sign.config.choices import no_such_choice, no_such_setting
from sign.config.identity import flatten


def composition_message(error: BaseException) -> str:
    """Return one line for an error that Hydra or OmegaConf raised."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return str(no_such_choice(f"{group}={name}", name, error.options))
    if isinstance(error, OverrideParseException):
        return f"{error.override}: cannot be parsed as name=value (quote special characters)"
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key}: has no default; set {error.full_key}=…"
    if match := re.match(r"Unknown plugin class : '(.*)'", f"{error}"):
        return f"_target_={match[1]}: not a plugin of Hydra; choose hydra/launcher=slots or hydra/sweeper=study"
    if (match := re.match(r"Could not override '([^']+)'", f"{error}")) and "Did you mean" not in f"{error}":
        return str(no_such_setting(match[1], _settings_beside(error.__cause__)))
    text = error.__cause__ or error if isinstance(error, HydraException) else error
    return " ".join(str(text).split())


def _settings_beside(error: BaseException | None) -> list[str]:
    """The settings of the configuration in which OmegaConf did not find a name, without Hydra's own."""
    node = getattr(error, "parent_node", None)
    if node is None:
        return []
    plain: Any = OmegaConf.to_container(node._get_root())
    plain.pop("hydra", None)
    return [*plain, *flatten(plain)]
