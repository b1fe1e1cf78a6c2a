"""Errors of Hydra while a configuration is composed, each as one line: what is wrong, which value, what to do."""

import re
from collections.abc import Callable
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import InterpolationKeyError, InterpolationResolutionError, MissingMandatoryValue

from sign.config.choices import no_such_choice, no_such_setting
from sign.config.identity import flatten
from sign.system.program import CONF

# an error of Hydra ▶ its message; the parts that it names are passed on
MESSAGES: tuple[tuple[str, Callable[..., str]], ...] = (
    (
        r"Unknown plugin class : '(.*)'",
        lambda name: f"_target_={name}: not a plugin of Hydra; choose hydra/launcher=slots or hydra/sweeper=study",
    ),
    (r"In '.*': Could not load '(.+)/(.+)'", lambda group, name: _no_such_file(group, name)),
    (r"Cannot find primary config '(.*)'\.", lambda name: f"--config-name {name}: there is no such configuration"),
    (r"Additional config directory '(.*)' not found", lambda path: f"--config-dir {path}: there is no such folder"),
    (
        r"Could not override '(.*?)'\.\s+Did you mean to override (?:one of )?(.*?)\?\s+To append",
        lambda key, names: f"{key}: there is no such setting; a file of this group is chosen by {names}",
    ),
    (
        r"Could not override '(.*?)'\. No match in the defaults list",
        lambda key: f"{key or '=…'}: there is no such setting; --help shows all",
    ),
    (
        r"Could not delete(?: from config\.)? '(.*?)'",
        lambda key: f"~{key}: there is no such setting or choice to remove; --help shows all",
    ),
    (
        r"Ambiguous value for argument '(.*?)'\s+1\.",
        lambda line: f"{line}: several values are a sweep, which needs -m; quote a single value that has a comma",
    ),
    (
        r"(?:Multiple values for (\S+)\.|(\S+) appears more than once in the final defaults list)",
        lambda *groups: f"+{max(filter(None, groups))}: it is chosen already; change it without a plus sign",
    ),
    (
        r"Error resolving interpolation '\$\{dataset\}_\$\{model\}'",
        lambda: "dataset and model: choose one file of each group, such as dataset=cora model=sign",
    ),
)


def composition_message(error: BaseException) -> str:
    """Return one line for an error that Hydra or OmegaConf raised."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return str(no_such_choice(f"{group}={name}", name, error.options))
    if isinstance(error, OverrideParseException):
        return f"{error.override}: cannot be parsed as name=value (quote special characters)"
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key}: has no default; set {error.full_key}=…"
    if isinstance(error, InterpolationKeyError | InterpolationResolutionError):
        return _interpolation_message(error)
    cause: Any = error.__cause__
    for pattern, message in MESSAGES:
        if match := re.match(pattern, f"{error}", re.DOTALL):
            return message(*match.groups())
    if match := re.match(r"Could not override '(.+?)'", f"{error}"):
        inner = getattr(cause, "full_key", None) or ""  # of training={monitr:x} it names more than the override
        return str(no_such_setting(max(match[1], inner, key=len), _settings_beside(cause)))
    text = cause or error if isinstance(error, HydraException) else error
    return " ".join(str(text).split())


def _interpolation_message(error: InterpolationKeyError | InterpolationResolutionError) -> str:
    """A value that refers to something which is not there: an environment variable, or another setting."""
    if variable := re.search(r"Environment variable '(.*?)' not found", f"{error}"):
        return f"${{oc.env:{variable[1]}}}: this environment variable is not set; set it, or give a value"
    if missing := re.search(r"Interpolation key '(.*?)' not found", f"{error}"):
        return f"${{{missing[1]}}}: there is no such setting; --help shows all"
    return " ".join(str(error.msg or error).split())


def _no_such_file(group: str, name: str) -> str:
    return str(no_such_choice(f"{group}={name}", name, (file.stem for file in (CONF / group).glob("*.yaml"))))


def _settings_beside(error: Any) -> set[str]:
    """The settings and sections of the configuration in which OmegaConf did not find a name, without Hydra's own."""
    node = getattr(error, "parent_node", None)
    if node is None:
        return set()
    plain: Any = OmegaConf.to_container(node._get_root())
    plain.pop("hydra", None)
    paths = [name.split(".") for name in flatten(plain)]
    return {".".join(path[:end]) for path in paths for end in range(1, len(path) + 1)}
