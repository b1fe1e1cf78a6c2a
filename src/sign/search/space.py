"""Search spaces in the syntax of hydra-optuna-sweeper: ``choice()``, ``range()``, ``interval()``, ``tag(log, …)``."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import FloatRange, Override, Transformer
from omegaconf import DictConfig, OmegaConf
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import Trial, create_trial

from sign.errors import SignError

NOT_SEARCHED = ("dataset", "hparams_search", "experiment", "search")  # a study has one of each


@dataclass(frozen=True)
class Space:
    """The distributions of the searched settings, and the overrides that all trials share."""

    distributions: dict[str, BaseDistribution]
    overrides: tuple[str, ...]

    def trial_overrides(self, params: Mapping[str, Any]) -> list[str]:
        """Return all overrides of one trial."""
        return [*self.overrides, *(f"{name}={value}" for name, value in params.items())]

    def grid(self) -> list[dict[str, Any]]:
        """Return all points of a discrete space, in order."""
        choices = [_grid_values(distribution) for distribution in self.distributions.values()]
        return [dict(zip(self.distributions, point, strict=True)) for point in itertools.product(*choices)]

    def point_of(self, cfg: DictConfig) -> dict[str, Any]:
        """Return the values that a configuration has for the searched settings; raise if one is outside its range."""
        point = {name: OmegaConf.select(cfg, name) for name in self.distributions}
        for name, distribution in self.distributions.items():
            try:  # Optuna's own check of a value against its distribution
                create_trial(value=0.0, params={name: point[name]}, distributions={name: distribution})
            except (ValueError, TypeError):
                raise SignError(
                    f"{name}={point[name]}: outside the search space ({distribution}); "
                    "widen it, or use search.baseline=false to let the sampler choose the first trial"
                ) from None
        return point

    def highest(self, name: str) -> Any:
        """Return the largest value of a searched setting."""
        distribution: Any = self.distributions[name]
        return distribution.high if hasattr(distribution, "high") else max(distribution.choices)


def read_space(params: Mapping[str, Any], arguments: Iterable[str]) -> Space:
    """Return the space of ``hydra.sweeper.params``; overrides of the command line replace or extend it."""
    lines = [*(f"{name}={'null' if value is None else value}" for name, value in params.items()), *arguments]
    entries: dict[str, BaseDistribution | str] = {}
    for override in OverridesParser.create().parse_overrides(lines):
        name, line = override.get_key_element().lstrip("+~"), str(override.input_line)
        entries.pop(name, None)
        entries[name] = _distribution(override) if override.is_sweep_override() else line
        if entries[name] is not line and name.split(".")[0] in NOT_SEARCHED:
            raise SignError(f"{line}: cannot be searched over; start one search per value")
    distributions = {name: entry for name, entry in entries.items() if isinstance(entry, BaseDistribution)}
    if not distributions:
        raise SignError(
            "hydra.sweeper.params: the search space is empty; use choice(), range() or interval() for a setting"
        )
    return Space(distributions, tuple(entry for entry in entries.values() if isinstance(entry, str)))


def suggest(trial: Trial, distributions: Mapping[str, BaseDistribution]) -> None:
    """Draw the values that a trial does not have yet."""
    for name, distribution in distributions.items():
        if isinstance(distribution, CategoricalDistribution):
            trial.suggest_categorical(name, distribution.choices)
        else:
            draw: Any = trial.suggest_int if isinstance(distribution, IntDistribution) else trial.suggest_float
            number: Any = distribution
            draw(name, number.low, number.high, step=number.step, log=number.log)


def _distribution(override: Override) -> BaseDistribution:
    """Return the distribution of ``choice()``, ``range()`` or ``interval()``."""
    sweep: Any = override.value()
    try:
        if override.is_interval_sweep():
            whole = isinstance(sweep.start, int) and isinstance(sweep.end, int)
            kind = IntDistribution if whole else FloatDistribution
            return kind(sweep.start, sweep.end, log="log" in sweep.tags)
        if override.is_choice_sweep() or sweep.shuffle or sweep.transformers:
            return CategoricalDistribution(list(override.sweep_iterator(transformer=Transformer.encode)))
        values = sweep.range()
        if isinstance(values, range):
            return IntDistribution(*sorted((values[0], values[-1])), step=abs(values.step))
        numbers = list(values)
        return FloatDistribution(min(numbers), max(numbers), step=abs(float(values.step)))
    except (ValueError, IndexError) as error:  # of Optuna; of a range without a value
        raise SignError(f"{override.input_line}: not a search range ({error})") from None


def _grid_values(distribution: BaseDistribution) -> list[Any]:
    if isinstance(distribution, CategoricalDistribution):
        return list(distribution.choices)
    if isinstance(distribution, IntDistribution):
        return list(range(distribution.low, distribution.high + 1, distribution.step))
    if isinstance(distribution, FloatDistribution) and distribution.step:
        low, high, step = distribution.low, distribution.high, distribution.step
        return [*FloatRange(low, high, step), high]  # which excludes its end
    raise SignError("hydra/sweeper/sampler=grid: an interval has no grid; use choice() or range()")
