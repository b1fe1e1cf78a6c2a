"""The section ``search`` of the configuration."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from sign.config.instantiate import build
from sign.errors import SignError
from sign.system.program import command_line
from sign.training.settings import ValidationMetric
from sign.validation import Count, Range, Validated, check_name


@dataclass(frozen=True)
class SearchSettings(Validated):
    """The number of trials, the slots they run on, and the study they belong to (defaults: ``conf/train.yaml``)."""

    metric: ValidationMetric
    slots: Annotated[int | None, Range(1)]
    devices: Any
    trials: Annotated[int | None, Range(1)]
    runs: Count
    study: str | None
    storage: str | None
    pruner: Literal["none", "median", "hyperband"]
    baseline: bool
    max_failures: Count


def search_settings(cfg: DictConfig) -> SearchSettings:
    """Return the checked section ``search`` of a composed configuration."""
    plain: Any = OmegaConf.to_container(cfg.search, resolve=True)
    search = build("search", SearchSettings, plain)
    if search.study:
        check_name(search.study, "search.study")
    return search


def check_multirun(cfg: DictConfig) -> None:
    """Raise if a search was requested without ``-m``; Hydra would silently start a single run."""
    chosen = HydraConfig.get().runtime.choices.get("hparams_search")
    if chosen and cfg.get("job_type") != "search":
        command = f"{command_line('train')} -m hparams_search={chosen}"
        raise SignError(f"hparams_search={chosen}: a search needs -m ({command})")
