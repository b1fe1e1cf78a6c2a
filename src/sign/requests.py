"""What the commands beside training are asked for: figures, cards of graphs, reports, and work on the store."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, ListConfig, OmegaConf, open_dict

from sign.config.configure import CONF, Settings
from sign.config.instantiate import named, writable
from sign.datasets.base import Dataset
from sign.engines.base import Engine
from sign.errors import SignError
from sign.tracking.wandb import WandB
from sign.validation import Range, Validated, check

KEPT = ("model", "operator", "scaling.hops", "training")  # settings that a pack does not hold


def datasets_named(cfg: DictConfig) -> list[Dataset]:
    """The data sets of the list ``datasets``: names, or a name with settings, {amazon: {graph: computers}}."""
    writable("paths.output_dir", cfg.paths.output_dir)
    choices = sorted(file.stem for file in (CONF / "dataset").glob("*.yaml"))
    if not isinstance(cfg.datasets, ListConfig) or not cfg.datasets:
        raise SignError(f"datasets={cfg.datasets}: give a list such as [cora,communities]")
    made = []
    for entry in cfg.datasets:
        ((name, changes),) = entry.items() if isinstance(entry, DictConfig) else ((entry, {}),)
        if name not in choices:
            raise SignError(f"datasets={name}: no such data set; take some of {', '.join(choices)}")
        node = OmegaConf.load(CONF / "dataset" / f"{name}.yaml")
        whole = OmegaConf.create({"dataset": OmegaConf.merge(node, changes), "paths": cfg.paths})
        OmegaConf.resolve(whole)
        made.append(named(whole, "dataset", Dataset))
    return made


def dataset_and_engine(cfg: DictConfig) -> tuple[Dataset, Engine, Path]:
    """What ``src/describe.py`` looks at, and the folder that it writes to."""
    OmegaConf.resolve(cfg)
    folder = writable("paths.output_dir", cfg.paths.output_dir)
    return named(cfg, "dataset", Dataset), named(cfg, "engine", Engine), folder


@dataclass(frozen=True)
class StoreRequest(Validated):
    """What ``src/store.py`` is asked to do."""

    action: Literal["list", "verify", "prune", "export"]
    path: str | None
    unused_days: Annotated[float | None, Range(0)]
    damaged: bool
    dry_run: bool
    root: str

    @property
    def folder(self) -> Path:
        """Where an export goes."""
        if self.path is None:
            raise SignError("path=null: action=export needs a new folder to write, such as path=cora-pack")
        return Path(self.path)


def store_request(cfg: DictConfig) -> StoreRequest:
    """Take the settings of ``src/store.py`` out of a configuration, which then is one of a training run."""
    with open_dict(cfg):
        own = {field.name: cfg.pop(field.name) for field in fields(StoreRequest) if field.name != "root"}
    return StoreRequest(**own, root=str(cfg.paths.store_dir))


def training_words(settings: Settings) -> str:
    """The words of this command line that a training run on its hops needs, too."""
    hydra = HydraConfig.get()
    choices, given = hydra.runtime.choices, hydra.overrides.task
    words = [word for word in given if word.lstrip("+~").startswith(KEPT)]
    tuned = f"{choices['dataset']}_{choices['model']}"
    if (CONF / "tuned" / f"{tuned}.yaml").is_file():
        words.append(f"tuned={tuned}")
    return " ".join([*words, f"scaling.features={settings.scaling.features}"])


def tracker(cfg: DictConfig) -> WandB:
    """The W&B project that ``src/workspace.py`` makes a view of."""
    return named(cfg, "logger", WandB)


@dataclass(frozen=True)
class ReportRequest:
    """What ``src/report.py`` reads, and where it writes."""

    folders: list[Path]
    output: Path


def report_request(cfg: DictConfig) -> ReportRequest:
    """The folders have to be there; one may be given without brackets."""
    OmegaConf.resolve(cfg)
    given = list(cfg.folders) if isinstance(cfg.folders, ListConfig) else [cfg.folders]
    if not given or None in given:
        raise SignError(f"folders={cfg.folders}: give folders that hold runs, such as folders=[outputs]")
    folders = [Path(str(folder)) for folder in given]
    for folder in folders:
        if not folder.is_dir():
            raise SignError(f"folders={folder}: no such folder; python src/train.py makes runs under outputs")
    check("output", cfg.output, str)
    return ReportRequest(folders, Path(cfg.output))
