"""Search spaces in the syntax of hydra-optuna-sweeper: ``choice()``, ``range()``, ``interval()``, ``tag(log, …)``."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra_plugins.hydra_optuna_sweeper._impl import (
    OptunaSweeperImpl,
    create_optuna_distribution_from_override,
)
from omegaconf import DictConfig, OmegaConf
from optuna.distributions import BaseDistribution

from sign.errors import SignError

FIXED_CHOICES = ("dataset", "hparams_search", "experiment", "search")  # one study is about one of these


@dataclass(frozen=True)
class Space:
    """What is searched, and the words that every trial has."""

    distributions: dict[str, BaseDistribution]
    words: tuple[str, ...]

    def words_of(self, values: Mapping[str, Any]) -> list[str]:
        """The words of one trial."""
        return [*self.words, *(f"{name}={value}" for name, value in values.items())]

    def grid(self) -> list[dict[str, Any]]:
        """All points of a space of discrete values, in order."""
        try:
            choices = [OptunaSweeperImpl._to_grid_sampler_choices(d) for d in self.distributions.values()]
        except ValueError:
            raise SignError(
                "hydra/sweeper/sampler=grid: an interval has no grid; use choice() or range()"
            ) from None
        return [dict(zip(self.distributions, point, strict=True)) for point in itertools.product(*choices)]

    def point_of(self, cfg: DictConfig) -> dict[str, Any]:
        """The values that a configuration has now; they must lie in the space."""
        point = {name: OmegaConf.select(cfg, name) for name in self.distributions}
        for name, distribution in self.distributions.items():
            try:
                inside = distribution._contains(distribution.to_internal_repr(point[name]))
            except (ValueError, TypeError):
                inside = False
            if not inside:
                raise SignError(
                    f"{name}={point[name]}: not in the space that is searched ({distribution}); "
                    "widen it, or leave the first trial to the sampler with search.baseline=false"
                )
        return point

    def highest(self, name: str) -> Any:
        """The largest value of one setting, None if it is not searched."""
        distribution: Any = self.distributions.get(name)
        if distribution is None:
            return None
        return distribution.high if hasattr(distribution, "high") else max(distribution.choices)


def read_space(params: Mapping[str, Any], arguments: Iterable[str]) -> Space:
    """The space of a YAML; words of the command line win over it, and may widen it."""
    words = [*(f"{name}={'null' if value is None else value}" for name, value in params.items()), *arguments]
    found: dict[str, Any] = {}
    for override in OverridesParser.create().parse_overrides(words):
        name = override.get_key_element().lstrip("+~")
        if override.is_delete():
            found[name] = override.input_line
            continue
        try:
            value = create_optuna_distribution_from_override(override)
        except (ValueError, AssertionError) as error:
            raise SignError(f"{override.input_line}: cannot be searched ({error})") from None
        if isinstance(value, BaseDistribution) and name.split(".")[0] in FIXED_CHOICES:
            raise SignError(f"{override.input_line}: a search is about one; start one search for each")
        found.pop(name, None)
        found[name] = value if isinstance(value, BaseDistribution) else override.input_line
    distributions = {name: value for name, value in found.items() if isinstance(value, BaseDistribution)}
    if not distributions:
        raise SignError(
            "hydra.sweeper.params: nothing is searched; give a setting choice(), range() or interval()"
        )
    return Space(distributions, tuple(value for value in found.values() if isinstance(value, str)))
