"""Groups of runs that differ only in their seed, and the names that distinguish them."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sign.config.identity import SEEDS, identity
from sign.report.entries import is_number
from sign.report.run_records import FlatConfig, RunRecord
from sign.runs import natural_order, over_seeds

GroupName = tuple[str, str, str, str]  # data set, model, experiment, job_type
SEARCH = "search"  # the job_type of trials
VARIANT_SETTINGS = 3  # settings that a variant names
PROTOCOL = ("training.", "scaling.")  # sections that say how much effort went into a model


@dataclass(frozen=True, eq=False)
class Group:
    """Finished and unfinished runs of one configuration.

    ``variant`` distinguishes it from groups of the same data set, model, experiment and job_type; ``label`` from all
    groups of the data set. ``settings`` also names how it was trained where models of the data set differ in that.
    """

    dataset: str
    model: str
    experiment: str
    job_type: str
    variant: str
    settings: str
    label: str
    records: list[RunRecord]

    @property
    def finished(self) -> list[RunRecord]:
        """The latest finished run of each seed: repeating a seed adds no sample."""
        latest: dict[Any, RunRecord] = {}
        for record in sorted(self.records, key=lambda record: (record.started, record.folder)):
            if record.metrics is not None:
                latest[record.seed, str(record.flat_config.get("dataset.split_seed"))] = record
        return sorted(latest.values(), key=lambda record: (record.seed is None, record.seed))

    def over_seeds(self) -> dict[str, dict[str, Any]]:
        """Mean, standard deviation and values of every metric."""
        return over_seeds(record.metrics or {} for record in self.finished)

    @property
    def epochs(self) -> float:
        """Epochs that the longest finished run was trained."""
        return max(((record.metrics or {}).get("epochs", len(record.epochs)) for record in self.finished), default=0)

    @property
    def stopped_early(self) -> bool:
        """Whether training ended before its last epoch, because the validation split did not improve any more."""
        limit = self.records[0].flat_config.get("training.max_epochs")
        return is_number(limit) and self.epochs < limit


def group_runs(records: Sequence[RunRecord]) -> list[Group]:
    """Group runs by data set, model, experiment, job_type and every setting that changes numbers."""
    by_name: dict[GroupName, dict[tuple[Any, ...], list[RunRecord]]] = {}
    for record in records:
        name = (record.dataset, record.model, record.experiment, record.job_type)
        by_name.setdefault(name, {}).setdefault(_key(record.flat_config), []).append(record)
    groups = []
    for name, variants in sorted(by_name.items(), key=lambda item: [natural_order(part) for part in item[0]]):
        search = name[3] == SEARCH
        same_model = [other for other in by_name if other[:2] == name[:2] and (other[3] == SEARCH) == search]
        differing = differences([dict(key) for key in variants])
        protocol = _protocol(by_name, name[0], search)
        for key, members in variants.items():
            variant, settings = (_variant(dict(key), sorted(names)) for names in (differing, {*differing, *protocol}))
            groups.append(Group(*name, variant, settings, _label(name, same_model, variant), members))
    return groups


def differences(configs: Sequence[FlatConfig]) -> dict[str, dict[str, int]]:
    """Settings whose values differ, with the number of configurations per value.

    >>> differences([{"p": 1, "seed": 0}, {"p": 2, "seed": 0}])
    {'p': {'1': 1, '2': 1}}
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for config in configs:
        for name, value in config.items():
            counts[name][yaml_text(value)] += 1
    for values in counts.values():
        if missing := len(configs) - values.total():
            values["not set"] = missing
    return {name: dict(values) for name, values in sorted(counts.items()) if len(values) > 1}


def _protocol(groups: Mapping[GroupName, Mapping[tuple[Any, ...], Any]], dataset: str, search: bool) -> set[str]:
    """Settings of the training that differ between the results, or between the trials, of a data set."""
    names = [name for name in groups if name[0] == dataset and (name[3] == SEARCH) == search]
    configs = [dict(key) for name in names for key in groups[name]]
    return {name for name in differences(configs) if name.startswith(PROTOCOL)}


def yaml_text(value: Any) -> str:
    """A value as a configuration file spells it."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _label(name: GroupName, same_model: Sequence[GroupName], variant: str) -> str:
    """The model, with experiment, variant and job_type where they are needed to distinguish groups."""
    _, model, experiment, job_type = name
    parts = [variant]
    if len({other[2] for other in same_model}) > 1:
        parts.insert(0, experiment)
    if job_type == SEARCH or len({other[3] for other in same_model}) > 1:
        parts.append(job_type)
    suffix = ", ".join(part for part in parts if part)
    return f"{model} · {suffix}" if suffix else model


def _key(config: FlatConfig) -> tuple[Any, ...]:
    counted = {name: yaml_text(value) for name, value in identity(config).items() if name not in SEEDS}
    return tuple(sorted(counted.items()))


def _variant(config: FlatConfig, differing: Sequence[str]) -> str:
    parts = [f"{name.rpartition('.')[2]}={_rounded(config[name])}" for name in differing if name in config]
    more = f", and {len(parts) - VARIANT_SETTINGS} more" if len(parts) > VARIANT_SETTINGS else ""
    return ", ".join(parts[:VARIANT_SETTINGS]) + more


def _rounded(text: str) -> str:
    """Four digits of a sampled number suffice in a name."""
    try:
        return f"{float(text):.4g}" if len(text) > 8 else text
    except ValueError:
        return text
