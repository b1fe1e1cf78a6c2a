"""Composed configuration ▶ checked objects. The only module that instantiates what a config names.

Nothing slow is imported here: a wrong setting is answered before torch is loaded.
"""

import os
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from sign.datasets.dataset import Dataset
from sign.engines.engine import Engine
from sign.errors import FieldError, SignError
from sign.loggers import Tracker
from sign.operators.operator import Operator
from sign.settings import Architecture, Power, Scaling, Seed, Training, check
from sign.store import Store

TRUST = "SIGN_TRUST"  # names modules of the user's own, which a configuration cannot do for itself
TARGETS = ("sign.*", *(f"{name}.*" for name in os.environ.get(TRUST, "").split(",") if name))
Section = TypeVar("Section")


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know."""

    dataset: Dataset
    model: str
    title: str
    branches: str
    powers: dict[str, tuple[Operator, int]]
    architecture: Architecture
    training: Training
    scaling: Scaling
    engine: Engine
    store: Store
    tracker: Tracker
    trainer: dict[str, Any]
    seed: int
    output_dir: Path
    ckpt_path: Path | None
    composed: dict[str, Any]

    @property
    def slug(self) -> str:
        """The model as part of a path: sign-p4-t1."""
        used = [f"{letter}{power}" for letter, (_, power) in self.powers.items() if power]
        return "-".join([self.model.lower(), *used])


def configure(cfg: DictConfig) -> Settings:
    """Check a composed configuration and make what it names."""
    if os.environ.get(TRUST) and os.getcwd() not in sys.path:  # noqa: PTH109
        sys.path.append(os.getcwd())  # noqa: PTH109 - the user's module lies where the command is started
    OmegaConf.resolve(cfg)
    plain: Any = OmegaConf.to_container(cfg, throw_on_missing=True)
    check("seed", plain["seed"], Seed)
    model = plain["model"]
    check("model.branches", model["branches"], Literal["all", "last"])
    powers = _powers(cfg, model)
    return Settings(
        dataset=_named(cfg, "dataset", Dataset),
        model=model["name"],
        title=model["title"] or _title(model["name"], powers),
        branches=model["branches"],
        powers=powers,
        architecture=_section(plain, "model", Architecture),
        training=_section(plain, "training", Training),
        scaling=_section(plain, "scaling", Scaling),
        engine=_named(cfg, "engine", Engine),
        store=_section(plain, "store", Store),
        tracker=_named(cfg, "logger", Tracker),
        trainer=plain["trainer"],
        seed=plain["seed"],
        output_dir=_writable("paths.output_dir", plain["paths"]["output_dir"]),
        ckpt_path=_checkpoint(plain["ckpt_path"]),
        composed=plain,
    )


def _powers(cfg: DictConfig, model: dict[str, Any]) -> dict[str, tuple[Operator, int]]:
    """Each letter of ``model.operators`` with its operator and its highest power."""
    powers = {}
    for letter in model["operators"]:
        power = model.get(letter, 0)
        try:
            check(letter, power, Power)
        except FieldError as error:
            advice = f"a power must be a whole number >= 0; use model.{letter}=0 to leave it out"
            raise FieldError(f"model.{letter}", error.value, advice) from None
        powers[letter] = (_named(cfg, f"model.operators.{letter}", Operator), power)
    return powers


def _title(name: str, powers: dict[str, tuple[Operator, int]]) -> str:
    """The model as the paper writes it: SIGN(p,s,t), or SIGN(p,d,f) where only those are used.

    An operator that the paper does not have is named.
    """
    exponents = {letter: power for letter, (_, power) in powers.items()}
    used = {letter for letter, power in exponents.items() if power}
    letters = "pdf" if used & set("df") and not used & set("st") else "pst"
    shown = [str(exponents.get(letter, 0)) for letter in letters]
    shown += [f"{letter}={exponents[letter]}" for letter in exponents if letter in used - set(letters)]
    return f"{name}({','.join(shown)})"


def _section(plain: dict[str, Any], name: str, kind: type[Section]) -> Section:
    """A section of plain values as its dataclass; keys of others in the same section are passed by."""
    wanted = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    try:
        return kind(**{key: value for key, value in plain[name].items() if key in wanted})
    except FieldError as error:
        raise error.within(name) from None


def _named(cfg: DictConfig, name: str, kind: type[Section]) -> Section:
    """The object that a section names by its ``_target_``."""
    node = OmegaConf.select(cfg, name)
    try:
        made = instantiate(node, _convert_="all", _execution_whitelist_=TARGETS)
    except FieldError as error:
        raise error.within(name) from None
    except (InstantiationException, TypeError) as error:
        if "whitelist" in str(error):
            target = OmegaConf.select(node, "_target_")
            advice = f"set {TRUST}={str(target).split('.')[0]} in the environment to allow your own module"
            raise SignError(f"{name}._target_={target}: not a part of SIGN; {advice}") from error
        raise SignError(f"{name}: {_first_line(error.__cause__ or error)}") from error
    if not isinstance(made, kind):
        raise SignError(
            f"{name}._target_={OmegaConf.select(node, '_target_')}: not a {kind.__name__.lower()}"
        )
    return made


def _checkpoint(value: Any) -> Path | None:
    if value is None:
        return None
    path = Path(str(value))
    if not path.is_file():
        raise SignError(f"ckpt_path={value}: no such file; a run keeps its own under checkpoints/")
    return path


def _writable(name: str, value: Any) -> Path:
    """The folder, made if need be."""
    folder = Path(str(value))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
        reason = "permission denied"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    raise SignError(f"{name}={value}: cannot be written ({reason}); choose another folder")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0]
