"""Sections of a configuration ▶ checked objects; only classes on an allow-list are instantiated."""

import os
import re
from collections.abc import Mapping
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeVar

from hydra.errors import InstantiationException
from hydra.utils import get_class, instantiate
from omegaconf import DictConfig, OmegaConf

from sign.config.choices import no_such_setting
from sign.errors import FieldError, SignError, reason

TRUST = "SIGN_TRUST"  # environment variable: modules of the user's own, which a configuration cannot allow itself
Section = TypeVar("Section")


def allowed_targets() -> tuple[str, ...]:
    """Patterns of the classes that ``_target_`` may name: those of SIGN, and of the modules in ``SIGN_TRUST``."""
    own = [name for name in os.environ.get(TRUST, "").split(",") if name]
    packages = ("datasets", "operators", "engines", "tracking", "models", "smoothing", "baselines")
    return tuple(f"{name}.*" for name in (*(f"sign.{package}" for package in packages), *own))


def build(name: str, kind: type[Section], values: Mapping[str, Any]) -> Section:
    """Return the dataclass ``kind`` with exactly these values; ``name`` is the section that errors refer to."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise no_such_setting(f"{name}.{key}", [f"{name}.{field}" for field in known])
    for key in known - set(values):
        raise SignError(f"{name}.{key}: the setting is missing; --help shows its default")
    try:
        return kind(**values)
    except FieldError as error:
        raise error.within(name) from None


def section_class(name: str, target: Any, kind: type[Section]) -> type[Section]:
    """Return the class that the ``_target_`` of a section names, a subclass of ``kind``."""
    if not isinstance(target, str):
        raise SignError(f"{name}._target_={target}: names no class; --help shows its choices")
    if not any(fnmatchcase(target, pattern) for pattern in allowed_targets()):
        raise _refused(name, target)
    try:
        found = get_class(target)
    except (ImportError, ValueError) as error:
        raise SignError(f"{name}._target_={target}: {' '.join(str(error).split())}") from None
    if not issubclass(found, kind):
        raise SignError(f"{name}._target_={target}: is not a subclass of {kind.__name__}")
    return found


def instantiate_section(cfg: DictConfig, name: str, kind: type[Section]) -> Section:
    """Return the object that the section ``name`` of ``cfg`` describes by its ``_target_``, a ``kind``."""
    node = OmegaConf.select(cfg, name)
    target = OmegaConf.select(node, "_target_") if isinstance(node, DictConfig) else None
    if not isinstance(target, str):
        raise SignError(f"{name}={node}: names no class; --help shows its choices")
    try:
        instance = instantiate(node, _convert_="all", _execution_whitelist_=allowed_targets())
    except FieldError as error:
        raise error.within(name) from None
    except (InstantiationException, TypeError) as error:
        raise _explained(name, node, error) from error
    if not isinstance(instance, kind):
        raise SignError(f"{name}._target_={target}: is not a subclass of {kind.__name__}")
    return instance


def _explained(name: str, node: DictConfig, error: Exception) -> SignError:
    """One line for an error of Hydra's ``instantiate``, about the class or argument that it is about."""
    text, _, key = str(error).partition("\nfull_key: ")
    if refused := re.match(r"Target '([^']*)'.*whitelist", text, re.DOTALL):
        return _refused(key or name, refused[1])
    unknown = re.search(r"unexpected keyword argument '(\w+)'", text)
    if unknown and unknown[1] in node:
        return no_such_setting(f"{name}.{unknown[1]}", [f"{name}.{other!s}" for other in node if other != unknown[1]])
    return SignError(f"{name}: {' '.join(str(error.__cause__ or text).split())}")


def _refused(name: str, target: str) -> SignError:
    advice = f"set {TRUST}={target.split('.')[0]} in the environment to allow your own module"
    return SignError(f"{name}._target_={target}: not a part of SIGN; {advice}")


def writable_folder(name: str, value: Any) -> Path:
    """Return the folder that the setting ``name`` gives, created if it does not exist."""
    folder = Path(str(value))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError("permission denied")
    except OSError as error:
        raise SignError(f"{name}={value}: cannot be written ({reason(error).lower()}); choose another folder") from None
    return folder
