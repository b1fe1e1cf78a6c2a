"""Sections of a configuration ▶ checked objects. The only module that instantiates what a configuration names."""

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from sign.errors import FieldError, SignError, reason

TRUST = "SIGN_TRUST"  # names modules of the user's own, which a configuration cannot do for itself
TARGETS = (
    "sign.datasets.*",
    "sign.operators.*",
    "sign.engines.*",
    "sign.tracking.*",
    *(f"{name}.*" for name in os.environ.get(TRUST, "").split(",") if name),
)
Section = TypeVar("Section")


def section(plain: dict[str, Any], name: str, kind: type[Section]) -> Section:
    """A section of plain values as its dataclass."""
    return made(name, kind, plain[name])


def made(name: str, kind: type[Section], values: Mapping[str, Any]) -> Section:
    """Values as a dataclass that has just these fields."""
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


def named(cfg: DictConfig, name: str, kind: type[Section]) -> Section:
    """The object that a section names by its ``_target_``."""
    node = OmegaConf.select(cfg, name)
    target = OmegaConf.select(node, "_target_") if isinstance(node, DictConfig) else None
    if not isinstance(target, str):
        raise SignError(f"{name}={node}: names no class; --help shows its choices")
    try:
        made = instantiate(node, _convert_="all", _execution_whitelist_=TARGETS)
    except FieldError as error:
        raise error.within(name) from None
    except (InstantiationException, TypeError) as error:
        if "whitelist" in str(error):
            advice = f"set {TRUST}={target.split('.')[0]} in the environment to allow your own module"
            raise SignError(f"{name}._target_={target}: not a part of SIGN; {advice}") from error
        raise SignError(f"{name}: {_one_line(error.__cause__ or error)}") from error
    if not isinstance(made, kind):
        raise SignError(f"{name}._target_={target}: not a {kind.__name__.lower()}")
    return made


def writable(name: str, value: Any) -> Path:
    """The folder, made if need be."""
    folder = Path(str(value))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
        why = "permission denied"
    except OSError as error:
        why = reason(error).lower()
    raise SignError(f"{name}={value}: cannot be written ({why}); choose another folder")


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if not line.startswith("full_key")]
    return " ".join(line for line in lines if line)
