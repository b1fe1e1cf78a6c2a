"""List, verify, prune and export stored hops."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, open_dict

from sign.config.configure import CONF, Settings, configure
from sign.errors import SignError
from sign.validation import Range, Validated

KEPT = ("model", "operator", "scaling.hops", "training")  # settings that a pack does not hold


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
    print(f"python src/train.py dataset=pack dataset.path={folder} {training_overrides(settings)}")


def training_overrides(settings: Settings) -> str:
    """The overrides of this command that a training run on its hops needs, too."""
    hydra = HydraConfig.get()
    choices = hydra.runtime.choices
    overrides = [text for text in hydra.overrides.task if text.lstrip("+~").startswith(KEPT)]
    tuned = f"{choices['dataset']}_{choices['model']}"
    if (CONF / "tuned" / f"{tuned}.yaml").is_file():
        overrides.append(f"tuned={tuned}")
    return " ".join([*overrides, f"scaling.features={settings.scaling.features}"])
