"""List, verify, prune and export stored hops."""

import shlex
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf, open_dict

from sign.config.configure import compose, configure, override
from sign.config.identity import identity
from sign.config.settings import Settings
from sign.errors import SignError
from sign.validation import Range, Validated

EXPORTED = ("dataset.", "store.", "search.")  # sections whose settings an export holds, or that no run has


@dataclass(frozen=True)
class StoreRequest(Validated):
    """The command's own settings; the others are those of a training run."""

    action: Literal["list", "verify", "prune", "export"]
    path: str | None
    unused_days: Annotated[float | None, Range(0)]
    damaged: bool
    dry_run: bool

    @classmethod
    def taken_from(cls, cfg: DictConfig) -> "StoreRequest":
        """Remove the command's own settings from a configuration, which then is one of a training run."""
        with open_dict(cfg):
            return cls(**{field.name: cfg.pop(field.name) for field in fields(cls)})


def main(cfg: DictConfig) -> None:
    """Do what ``action`` says."""
    request = StoreRequest.taken_from(cfg)
    if request.action == "export":
        export(request, configure(cfg))
        return
    from sign.store import maintenance

    root = Path(str(cfg.paths.store_dir))
    if not root.is_dir():
        print(f"{root}: there is no store yet; src/precompute.py fills one")
    elif request.action == "list":
        maintenance.show(root)
    elif request.action == "verify":
        maintenance.verify(root)
    else:
        maintenance.prune(root, request.unused_days, request.damaged, request.dry_run)


def export(request: StoreRequest, settings: Settings) -> None:
    """Write the hops of one configuration to ``path`` and print the command that trains on them."""
    if request.path is None:
        raise SignError("path=null: action=export needs a new folder to write, such as path=cora-pack")
    from sign.diffusion.export import check_folder, export

    folder = Path(request.path)
    check_folder(folder)
    source = settings.precomputation
    size = export(source, *source.run(), folder)
    print(f"{size / 1e6:.1f} MB in {folder}; to train on it, on any machine:")
    model = HydraConfig.get().runtime.choices["model"]
    print(shlex.join(["python", "src/train.py", *training_overrides(settings, model, folder)]))


def training_overrides(settings: Settings, model: str, folder: Path) -> list[str]:
    """Return the overrides with which a training run on exported hops has the same numbers.

    ``model`` is the choice of ``conf/model``; what differs from its defaults and is not in the export is listed.
    """
    overrides = ["dataset=pack", override("dataset.path", str(folder)), f"model={model}"]
    plain: Any = OmegaConf.to_container(compose(*overrides), resolve=True)
    defaults, wanted = (
        {name: value for name, value in identity(config).items() if not name.startswith(EXPORTED)}
        for config in (plain, settings.config)
    )
    overrides += [f"~{name}" for name in defaults if name not in wanted]
    for name, value in wanted.items():
        if name not in defaults:
            overrides.append("+" + override(name, value))
        elif defaults[name] != value:
            overrides.append(override(name, value))
    return overrides
