"""Run folders and series on disk: written while training, read by everything that comes after.

A *run* is one training, in a folder with ``run.json`` (what it is), ``config.yaml``, ``metrics.csv`` (a row an
epoch) and, once it is finished, ``metrics.json``. A *series* is one configuration trained with several seeds: a
folder with a run folder a seed and ``series.json``. No tensor is touched here, so reading is quick.
"""

import csv
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sign.errors import SignError, reason

RUN = "run.json"
CONFIG = "config.yaml"
EPOCHS = "metrics.csv"
METRICS = "metrics.json"
SERIES = "series.json"
CHECKPOINTS = "checkpoints"


@dataclass(frozen=True)
class Run:
    """A run folder."""

    folder: Path

    @cached_property
    def description(self) -> dict[str, Any]:
        """What was run: data set, model, seed, experiment, job_type, group, versions, hops."""
        return read_json(self.folder / RUN)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The composed configuration."""
        file = self.folder / CONFIG
        try:  # it is resolved already, and this reader is forty times as fast as OmegaConf's
            content = yaml.load(file.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except (OSError, ValueError, yaml.YAMLError) as error:
            raise SignError(f"{file}: cannot be read as a configuration ({type(error).__name__})") from error
        if not isinstance(content, dict):
            raise SignError(f"{file}: is not a configuration")
        return content

    @property
    def metrics(self) -> dict[str, float] | None:
        """The final numbers; None while the run is not finished."""
        file = self.folder / METRICS
        return read_json(file) if file.is_file() else None

    @property
    def last_checkpoint(self) -> Path | None:
        """Where an unfinished run can go on from."""
        file = self.folder / CHECKPOINTS / "last.ckpt"
        return file if file.is_file() else None

    def epochs(self) -> list[dict[str, float]]:
        """The metrics of each epoch; a row that was cut short by a crash is left out."""
        file = self.folder / EPOCHS
        if not file.is_file():
            return []
        with file.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        try:
            return [
                {name: float(value) for name, value in row.items()}
                for row in rows
                if None not in row and None not in row.values() and "" not in row.values()
            ]
        except ValueError as error:
            raise SignError(f"{file}: holds something that is not a number ({error})") from error


@dataclass(frozen=True)
class Series:
    """A folder of runs that differ in their seed alone."""

    folder: Path

    @cached_property
    def description(self) -> dict[str, Any]:
        """``series.json``: what was run, which seeds are finished, and the metrics over them."""
        return read_json(self.folder / SERIES)

    @property
    def seeds(self) -> list[int]:
        """The seeds whose runs are finished."""
        return list(self.description["seeds"])

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Mean, standard deviation and values of each metric."""
        return dict(self.description["metrics"])

    @property
    def runs(self) -> list[Run]:
        """The finished runs, in the order of ``seeds``."""
        return [self.run(seed) for seed in self.seeds]

    def run(self, seed: int) -> Run:
        """The run of one seed, whether it exists or not."""
        return Run(self.folder / f"seed{seed}")


def find_runs(folders: Iterable[Path]) -> list[Run]:
    """All runs in or below some folders, by path; those of series and searches are among them."""
    return [Run(folder) for folder in _holders(folders, RUN)]


def find_series(folders: Iterable[Path]) -> list[Series]:
    """All series in or below some folders, by path."""
    return [Series(folder) for folder in _holders(folders, SERIES)]


def over_seeds(runs: Iterable[Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Mean, standard deviation (of the population: divided by n) and values of the metrics that all runs have."""
    found = list(runs)
    names = [name for name in sorted(found[0]) if all(name in run for run in found)] if found else []
    values = {name: [run[name] for run in found] for name in names}
    return {
        name: {"mean": float(np.mean(numbers)), "std": float(np.std(numbers)), "values": numbers}
        for name, numbers in values.items()
    }


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object, or one sentence."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise SignError(f"{file}: cannot be read ({reason(error).lower()}); is it a run of SIGN?") from error
    if not isinstance(content, dict):
        raise SignError(f"{file}: is not what SIGN writes; is it a run of SIGN?")
    return content


def _holders(folders: Iterable[Path], name: str) -> list[Path]:
    """The folders in or below some folders that hold a file of this name."""
    files = (file.parent for folder in folders for file in sorted(Path(folder).rglob(name), key=_natural))
    return list(dict.fromkeys(files))


def _natural(path: Path) -> list[list[tuple[str, int]]]:
    """An order in which ``seed9`` comes before ``seed10``, and ``seed9`` before the next of its name, ``seed9-1``."""
    return [
        [(text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", part)] for part in path.parts
    ]
