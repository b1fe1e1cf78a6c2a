"""Sections of a configuration ▶ checked objects; only classes on an allow-list are instantiated."""

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from sign.errors import FieldError, SignError, reason

TRUST = "SIGN_TRUST"  # environment variable: modules of the user's own, which a configuration cannot allow itself
Section = TypeVar("Section")


def allowed_targets() -> tuple[str, ...]:
    """Patterns of the classes that ``_target_`` may name: those of SIGN, and of the modules in ``SIGN_TRUST``."""
    own = [name for name in os.environ.get(TRUST, "").split(",") if name]
    return tuple(f"{name}.*" for name in ("sign.datasets", "sign.operators", "sign.engines", "sign.tracking", *own))


def build(name: str, kind: type[Section], values: Mapping[str, Any]) -> Section:
    """Return the dataclass ``kind`` with exactly these values; ``name`` is the section that errors refer to."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise SignError(f"{name}.{key}: there is no such setting; --help shows all")
    for key in known - set(values):
        raise SignError(f"{name}.{key}: the setting is missing; --help shows its default")
    try:
        return kind(**values)
    except FieldError as error:
        raise error.within(name) from None


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
        if "whitelist" in str(error):
            advice = f"set {TRUST}={target.split('.')[0]} in the environment to allow your own module"
            raise SignError(f"{name}._target_={target}: not a part of SIGN; {advice}") from error
        text = str(error.__cause__ or error).partition("\nfull_key:")[0]
        raise SignError(f"{name}: {' '.join(text.split())}") from error
    if not isinstance(instance, kind):
        raise SignError(f"{name}._target_={target}: is not a subclass of {kind.__name__}")
    return instance


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
