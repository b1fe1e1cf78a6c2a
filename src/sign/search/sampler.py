"""Optuna's samplers, which propose values, and pruners, which stop trials early."""

from typing import Any

import optuna
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from sign.errors import SignError

TARGETS = ("optuna.samplers.*", "hydra_plugins.hydra_optuna_sweeper.*")


def make_sampler(config: DictConfig, number: int) -> optuna.samplers.BaseSampler:
    """Return the sampler of ``hydra.sweeper.sampler`` for one trial, whose number is added to the seed.

    The values of a trial thus depend on the trials before it, not on the process or machine that asks.
    """
    plain: Any = OmegaConf.to_container(config, resolve=True)
    if plain.get("seed") is not None:
        plain["seed"] += number
    try:
        sampler = instantiate(plain, _execution_whitelist_=TARGETS)
    except (InstantiationException, TypeError, ValueError) as error:
        raise SignError(f"hydra.sweeper.sampler: {' '.join(str(error.__cause__ or error).split())}") from error
    if not isinstance(sampler, optuna.samplers.BaseSampler):
        raise SignError(f"hydra.sweeper.sampler._target_={plain.get('_target_')}: not a sampler of Optuna")
    return sampler


def make_pruner(name: str, max_epochs: int) -> optuna.pruners.BasePruner:
    """Return the pruner of ``search.pruner``."""
    if name == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=5)
    if name == "hyperband":
        return optuna.pruners.HyperbandPruner(max_resource=max_epochs)
    return optuna.pruners.NopPruner()
