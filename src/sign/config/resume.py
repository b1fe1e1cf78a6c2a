"""Resume a run: its own settings, with exactly the changes that were named on the command line."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from sign.config.defaults import AUTO
from sign.config.identity import EXTENDABLE, changes_numbers, flatten
from sign.config.overrides import GLOBAL
from sign.datasets.base import Dataset
from sign.errors import SignError
from sign.runs import CHECKPOINTS, CONFIG, Run

MISSING = object()


def checkpoint_of(value: Any) -> Path | None:
    """Return the checkpoint that ``ckpt_path`` names: a file, or the last one of a run folder or of its checkpoints."""
    if value is None:
        return None
    path = Path(str(value))
    folder = path if path.resolve().name == CHECKPOINTS else path / CHECKPOINTS
    file = folder / "last.ckpt" if path.is_dir() else path
    if not file.is_file():
        missing = f"the folder has no {CHECKPOINTS}/last.ckpt" if path.is_dir() else "no such file"
        raise SignError(f"ckpt_path={value}: {missing}; give a run folder, or a file in its {CHECKPOINTS}/")
    return file


def run_folder_of(checkpoint: Any) -> Path | None:
    """Return the run folder that a checkpoint lies in, if it lies in one."""
    path = Path(str(checkpoint)).resolve()
    inside = checkpoint is not None and path.parent.name == CHECKPOINTS
    return path.parents[1] if inside and (path.parents[1] / CONFIG).is_file() else None


def resumed_config(cfg: DictConfig, run: Path, overrides: Iterable[str]) -> DictConfig:
    """Return the configuration of the run in the folder ``run``, changed by ``overrides`` alone.

    ``cfg`` is the configuration that was composed with the overrides, not yet resolved: a value is taken from it
    only where an override names it, or where it refers to such a value (``store.root`` to ``paths.store_dir``).
    A group choice such as ``engine=torch`` names its whole group, of which settings that change the numbers stay. Of a
    group that changes them throughout, such as ``model=sign``, every setting has to be that of the run already.

    Raises
    ------
    SignError
        If an override would change the numbers of the run, other than by training longer.
    """
    resumed = OmegaConf.create(Run(run).config)
    resumed.ckpt_path = cfg.ckpt_path
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    choices = [override for override in parsed if _is_choice(override, cfg, resumed)]
    for override in (*choices, *(override for override in parsed if override not in choices)):
        name, value = _name(override), override.value()
        if name == "ckpt_path":
            continue
        if name in GLOBAL:
            refused = [] if name == "experiment" and value == resumed.get("experiment") else [name]
        elif override in choices:
            refused = _choose(name, cfg, resumed)
        else:
            keys = [f"{name}.{key}" for key in flatten(value)] if isinstance(value, dict) and value else [name]
            refused = [key for key in keys if not _set(key, cfg, resumed)]
        if refused:
            before = OmegaConf.select(resumed, refused[0])
            shown = before.get("name") or before.get("_target_") if isinstance(before, DictConfig) else before
            raise SignError(
                f"{override.input_line}: would change the numbers of the run that ckpt_path={cfg.ckpt_path} resumes "
                f"({refused[0]}={shown}); leave it out, or start a new run without ckpt_path"
            )
    return resumed


def check_content(dataset: Dataset, run: Path) -> None:
    """Refuse to resume a run whose data set is read from files that have changed since."""
    before = Run(run).description.get("content")
    if before is not None and before != dataset.content_digest():
        raise SignError(
            f"dataset {dataset.name}: its files have changed since the run in {run} began; "
            "start a new run without ckpt_path"
        )


def _name(override: Override) -> str:
    """The dotted key that an override sets: of ``operator@model.operators.s=heat`` it is the package."""
    return str(override.package or override.key_or_group)


def _is_choice(override: Override, cfg: DictConfig, resumed: DictConfig) -> bool:
    """Whether an override chooses a file of a group, in place of a value."""
    sections = (OmegaConf.select(config, _name(override)) for config in (cfg, resumed))
    return isinstance(override.value(), str) and all(isinstance(section, DictConfig) for section in sections)


def _choose(name: str, cfg: DictConfig, resumed: DictConfig) -> list[str]:
    """Make the choice of a group; return the settings by which it would change the numbers of the run instead."""
    before, after = (_plain(OmegaConf.select(config, name)) for config in (resumed, cfg))
    if changes_numbers(name):
        old, new = flatten(before, f"{name}."), flatten(after, f"{name}.")
        differing = [key for key in {**old, **new} if old.get(key, MISSING) != new.get(key, MISSING)]
        counted = [key for key in differing if changes_numbers(key) and new.get(key) != AUTO]
        return sorted(counted, key=lambda key: key != f"{name}.name")
    OmegaConf.update(resumed, name, after, merge=False)
    for key, value in flatten(before, f"{name}.").items():
        if changes_numbers(key):
            OmegaConf.update(resumed, key, value, merge=False)
    for key in flatten(after, f"{name}."):
        _follow(key, cfg, resumed)
    return []


def _set(key: str, cfg: DictConfig, resumed: DictConfig) -> bool:
    """Take one value from ``cfg``, or remove it if it is not there; False if that would change the numbers."""
    before, after = (_plain(OmegaConf.select(config, key, default=MISSING)) for config in (resumed, cfg))
    if changes_numbers(key) and key not in EXTENDABLE:
        return bool(before == after)
    if after is not MISSING:
        OmegaConf.update(resumed, key, after, merge=False, force_add=True)
        _follow(key, cfg, resumed)
    elif before is not MISSING:
        section, _, last = key.rpartition(".")
        (OmegaConf.select(resumed, section) if section else resumed).pop(last)
    return True


def _follow(key: str, cfg: DictConfig, resumed: DictConfig) -> None:
    """Give the settings that ``cfg`` defines as a reference to ``key`` its value, too."""
    unresolved: Any = OmegaConf.to_container(cfg)
    for other, value in flatten(unresolved).items():
        if value == f"${{{key}}}" and not changes_numbers(other):
            OmegaConf.update(resumed, other, OmegaConf.select(resumed, key), merge=False)


def _plain(value: Any) -> Any:
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
