"""Run folders and series, read back from disk without torch.

A *run* is one training in a folder with ``run.json`` (its description), ``config.yaml``, ``metrics.csv`` (one row per
epoch) and, once it is finished, ``metrics.json``. A *series* is one configuration trained with several seeds: a
folder with one run folder per seed and ``series.json``.
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

from sign.errors import SignError, reason
from sign.system.yaml_files import read_yaml

RUN = "run.json"
CONFIG = "config.yaml"
EPOCHS = "metrics.csv"
METRICS = "metrics.json"
SERIES = "series.json"
STUDY = "study.json"
CHECKPOINTS = "checkpoints"
HOP_COSTS = ("products", "rows_computed", "rows_saved")  # entries of run.json


@dataclass(frozen=True)
class Run:
    """A run folder."""

    folder: Path

    @cached_property
    def description(self) -> dict[str, Any]:
        """``run.json``: data set, model, seed, experiment, job_type, group, versions, hops."""
        return read_json(self.folder / RUN)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The composed configuration."""
        file = self.folder / CONFIG
        content = read_yaml(file)  # interpolations are resolved already, and OmegaConf's parser takes 40 times as long
        if not isinstance(content, dict):
            raise SignError(f"{file}: is not a configuration")
        return content

    @property
    def metrics(self) -> dict[str, float] | None:
        """The final metrics; None while the run is not finished."""
        file = self.folder / METRICS
        return read_json(file) if file.is_file() else None

    @property
    def last_checkpoint(self) -> Path | None:
        """The checkpoint from which an unfinished run resumes."""
        file = self.folder / CHECKPOINTS / "last.ckpt"
        return file if file.is_file() else None

    def epochs(self) -> list[dict[str, float]]:
        """Read the metrics of each epoch; a row that a crash cut short is skipped."""
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
            raise SignError(f"{file}: contains a value that is not a number ({error})") from error


@dataclass(frozen=True)
class Series:
    """A folder of runs that differ only in their seed."""

    folder: Path

    @cached_property
    def description(self) -> dict[str, Any]:
        """``series.json``: the configuration in brief, the finished seeds, and the metrics over them."""
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
        """The run of one seed, which need not exist yet."""
        return Run(self.folder / f"seed{seed}")


def find_runs(folders: Iterable[Path]) -> list[Run]:
    """All runs in or below ``folders``, in natural order; those of series and searches are included."""
    return [Run(folder) for folder in _folders_with(RUN, folders)]


def find_series(folders: Iterable[Path]) -> list[Series]:
    """All series in or below ``folders``, in natural order."""
    return [Series(folder) for folder in _folders_with(SERIES, folders)]


def over_seeds(runs: Iterable[Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Mean, standard deviation of the population (divided by n) and values of the metrics that all runs have."""
    runs = list(runs)
    names = sorted(set.intersection(*(set(run) for run in runs))) if runs else []
    values = {name: [run[name] for run in runs] for name in names}
    return {
        name: {"mean": float(np.mean(numbers)), "std": float(np.std(numbers)), "values": numbers}
        for name, numbers in values.items()
    }


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object; raises :class:`SignError` where the file holds anything else."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise SignError(f"{file}: cannot be read ({reason(error).lower()}); is it a run of SIGN?") from error
    if not isinstance(content, dict):
        raise SignError(f"{file}: is not a JSON object; is it a run of SIGN?")
    return content


def natural_order(text: str) -> list[tuple[str, int]]:
    """A sort key by which ``seed9`` precedes ``seed9-1``, and both precede ``seed10``.

    >>> sorted(["seed10", "seed9-1", "seed9"], key=natural_order)
    ['seed9', 'seed9-1', 'seed10']
    """
    return [(letters, int(digits or 0)) for letters, digits in re.findall(r"(\D*)(\d*)", text)]


def _folders_with(name: str, folders: Iterable[Path]) -> list[Path]:
    """The folders in or below ``folders`` that hold a file called ``name``, without duplicates."""
    found: dict[Path, None] = {}
    for folder in folders:
        files = Path(folder).rglob(name)
        ordered = sorted(files, key=lambda file: [natural_order(part) for part in file.parts])
        found |= dict.fromkeys(file.parent for file in ordered)
    return list(found)
