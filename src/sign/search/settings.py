"""The section ``search`` of the configuration."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from sign.config.instantiate import section
from sign.errors import SignError
from sign.validation import Count, Range, Validated


@dataclass(frozen=True)
class SearchSettings(Validated):
    """How many trials there are, where they run, and where they are written down."""

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
    """Check the section of a composed configuration."""
    plain: Any = OmegaConf.to_container(cfg.search, resolve=True)
    made = section({"search": plain}, "search", SearchSettings)
    if made.study and not re.fullmatch(r"[\w.-]+", made.study):
        raise SignError(f"search.study={made.study}: names a folder, too; use letters, digits, -, _ and .")
    return made


def check_mode(cfg: DictConfig) -> None:
    """A search that is asked for without -m would be an ordinary run, silently."""
    chosen = HydraConfig.get().runtime.choices.get("hparams_search")
    if chosen and cfg.get("job_type") != "search":
        raise SignError(
            f"hparams_search={chosen}: a search needs -m (python src/train.py -m hparams_search=…)"
        )
