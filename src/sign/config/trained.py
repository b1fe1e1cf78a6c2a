"""The settings of a trained run, for another graph or on another machine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

from sign.config.configure import SECTIONS, configure
from sign.config.identity import flatten
from sign.config.overrides import SECTIONS_OF_RUN
from sign.config.settings import Settings
from sign.errors import SignError
from sign.runs import CONFIG, Run

FOLLOWS = {"paths.store_dir": "store.root", "paths.data_dir": "dataset.data_dir"}


def trained_settings(run: Path, cfg: DictConfig) -> Settings:
    """Return the settings of the run in a folder, changed by those sections of ``cfg`` that name where rows come from.

    A group choice such as ``dataset=custom`` replaces its section; ``dataset.path=…`` changes one setting.
    """
    config = OmegaConf.create({**Run(run).config, "ckpt_path": None, "runs": 1})
    if missing := [section for section in SECTIONS if not isinstance(config.get(section), DictConfig)]:
        raise SignError(f"{run / CONFIG}: has no section {missing[0]}, so it is damaged; restore it, or train again")
    choices = HydraConfig.get().runtime.choices if HydraConfig.initialized() else {}
    named: set[str] = set()
    for section in SECTIONS_OF_RUN:
        changes: Any = OmegaConf.to_container(cfg.get(section) or OmegaConf.create())
        if choices.get(section) is not None:
            config[section] = changes
        else:
            for key, value in flatten(changes, f"{section}.").items():
                OmegaConf.update(config, key, value, force_add=True)
        named |= flatten(changes, f"{section}.").keys()
    for source, target in FOLLOWS.items():
        if source in named and target not in named and OmegaConf.select(config, target) is not None:
            OmegaConf.update(config, target, OmegaConf.select(config, source))
    if "_target_" not in config.dataset:
        name = Run(run).description.get("dataset")
        raise SignError(
            f"run={run}: was trained on the graph {name} of a program, which no file has; "
            "name a graph, as in dataset=custom dataset.path=…"
        )
    settings = replace(configure(config, overrides=()), pseudo_labels=Run(run).best_stage.pseudo_labels)
    if settings.baseline:
        raise SignError(
            f"run={run}: predictions of {settings.title} are not supported; its metrics.json has the metrics of all "
            "splits, and models that are trained on hops, such as model=sign, can be applied to other graphs"
        )
    return settings
