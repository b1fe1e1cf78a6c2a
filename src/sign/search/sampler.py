"""Which values are tried next, and which trials are stopped early: Optuna's samplers and pruners."""

from typing import Any

import optuna
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from sign.errors import SignError

SAMPLERS = ("optuna.samplers.*", "hydra_plugins.hydra_optuna_sweeper.*")


def make_sampler(node: DictConfig, number: int) -> optuna.samplers.BaseSampler:
    """The sampler of hydra.sweeper.sampler for one trial, with a seed of its own.

    What it draws depends on the trials before it, not on which process or machine asks.
    """
    plain: Any = OmegaConf.to_container(node, resolve=True)
    if plain.get("seed") is not None:
        plain["seed"] += number
    try:
        made = instantiate(plain, _execution_whitelist_=SAMPLERS)
    except InstantiationException as error:
        raise SignError(f"hydra.sweeper.sampler: {error.__cause__ or error}".splitlines()[0]) from error
    if not isinstance(made, optuna.samplers.BaseSampler):
        raise SignError(f"hydra.sweeper.sampler._target_={plain.get('_target_')}: not a sampler of Optuna")
    return made


def make_pruner(name: str, max_epochs: int) -> optuna.pruners.BasePruner:
    """Nothing is pruned, or trials behind the median, or by successive halving."""
    if name == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=5)
    if name == "hyperband":
        return optuna.pruners.HyperbandPruner(max_resource=max_epochs)
    return optuna.pruners.NopPruner()
