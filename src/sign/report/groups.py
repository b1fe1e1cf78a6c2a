"""Runs that differ in their seed alone, and what tells them from others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sign.report.records import Record, Settings
from sign.runs import over_seeds

# What changes no number beyond rounding, or is shown in a column of its own.
APART = (
    "paths.",
    "logger.",
    "trainer.accelerator",
    "trainer.devices",
    "trainer.num_nodes",
    "trainer.compile",
    "engine.",
    "store.root",
    "store.verify",
)
SINGLE = ("seed", "runs", "job_type", "group", "experiment", "ckpt_path", "dataset.split_seed")
Name = tuple[str, str, str, str]  # data set, model, experiment, job_type
SEARCH = "search"  # the job_type of trials
SHOWN = 3  # settings that name a variant


@dataclass(frozen=True, eq=False)
class Group:
    """Finished and unfinished runs of one configuration.

    ``variant`` tells it from others of the same data set, model, experiment and job type; ``label`` from all
    others of the data set.
    """

    dataset: str
    model: str
    experiment: str
    job_type: str
    variant: str
    label: str
    records: list[Record]

    @property
    def metric(self) -> str:
        """Accuracy or micro-F1."""
        return self.records[0].metric

    @property
    def finished(self) -> list[Record]:
        """The latest finished run of each seed: a repetition of a seed is no second sample."""
        latest: dict[Any, Record] = {}
        for record in sorted(self.records, key=lambda record: (record.started, record.folder)):
            if record.metrics is not None:
                latest[record.seed, str(record.settings.get("dataset.split_seed"))] = record
        return sorted(latest.values(), key=lambda record: (record.seed is None, record.seed))

    def over_seeds(self) -> dict[str, dict[str, Any]]:
        """Mean, standard deviation and values of every metric."""
        return over_seeds(record.metrics or {} for record in self.finished)


def group(records: Sequence[Record]) -> list[Group]:
    """Runs by data set, model, experiment, job_type and every setting that changes numbers."""
    names: dict[Name, dict[tuple[Any, ...], list[Record]]] = {}
    for record in records:
        name = (record.dataset, record.model, record.experiment, record.job_type)
        names.setdefault(name, {}).setdefault(_key(record.settings), []).append(record)
    groups = []
    for name, variants in sorted(names.items(), key=lambda item: [_natural(word) for word in item[0]]):
        namesakes = [
            other for other in names if other[:2] == name[:2] and _searched(other) == _searched(name)
        ]
        differing = sorted(differences([dict(key) for key in variants]))
        for key, members in variants.items():
            variant = _variant(dict(key), differing)
            groups.append(Group(*name, variant, _label(name, namesakes, variant), members))
    return groups


def _label(name: Name, namesakes: Sequence[Name], variant: str) -> str:
    """The model; experiment and job_type where they are needed to tell groups apart."""
    _, model, experiment, job_type = name
    extra = [variant]
    if len({other[2] for other in namesakes}) > 1:
        extra.insert(0, experiment)
    if _searched(name) or len({other[3] for other in namesakes}) > 1:
        extra.append(job_type)
    words = ", ".join(part for part in extra if part)
    return f"{model} · {words}" if words else model


def _natural(text: str) -> list[tuple[int, str]]:
    """Words in the order of people: SIGN(2,0,0) before SIGN(10,0,0)."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text)]


def _searched(name: Name) -> bool:
    return name[3] == SEARCH


def differences(several: Sequence[Settings]) -> dict[str, dict[str, int]]:
    """Settings that are not the same everywhere: their values, and how often each is there.

    >>> differences([{"p": 1, "seed": 0}, {"p": 2, "seed": 0}])
    {'p': {'1': 1, '2': 1}}
    """
    counts: dict[str, dict[str, int]] = {}
    for settings in several:
        for name, value in settings.items():
            values = counts.setdefault(name, {})
            values[written(value)] = values.get(written(value), 0) + 1
    for values in counts.values():
        if missing := len(several) - sum(values.values()):
            values["not set"] = missing
    return {name: values for name, values in sorted(counts.items()) if len(values) > 1}


def written(value: Any) -> str:
    """A setting as it stands in a configuration file."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def _key(settings: Settings) -> tuple[Any, ...]:
    kept = {
        name: written(value)
        for name, value in settings.items()
        if name not in SINGLE and not name.startswith(APART)
    }
    return tuple(sorted(kept.items()))


def _variant(settings: Settings, differing: Sequence[str]) -> str:
    words = [f"{name.rpartition('.')[2]}={_short(settings[name])}" for name in differing if name in settings]
    more = f", and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return ", ".join(words[:SHOWN]) + more


def _short(text: str) -> str:
    """A drawn number has more digits than a name needs."""
    try:
        return f"{float(text):.4g}" if len(text) > 8 else text
    except ValueError:
        return text
