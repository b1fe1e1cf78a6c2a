"""Run folders and series, read back from disk without torch.

A *run* is one training in a folder with ``run.json`` (its description), ``config.yaml``, ``metrics.csv`` (one row per
epoch) and, once it is finished, ``metrics.json``, ``per_class.csv`` and, for single-label data, ``confusion.csv``. With
several stages, its folder contains one run folder for each stage after the first. A *series* is one configuration
trained with several seeds: a folder with one run folder per seed and ``series.json``.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sign.errors import SignError
from sign.system.csv_files import numbers, read_csv
from sign.system.json_files import check_values, read_json
from sign.system.yaml_files import read_yaml

RUN = "run.json"
CONFIG = "config.yaml"
EPOCHS = "metrics.csv"
METRICS = "metrics.json"
PER_CLASS = "per_class.csv"
CONFUSION = "confusion.csv"
THRESHOLDS = "thresholds.json"
SMOOTHING = "smoothing.json"
SERIES = "series.json"
STUDY = "study.json"
STAGES = "stages.json"
STAGE = "stage{number}"  # folder of a later stage of self-training, within the run folder
PSEUDO_LABELS = "pseudo_labels.npz"
CHECKPOINTS = "checkpoints"
MAX_SERIES_BYTES = 2**24  # of series.json: about 10,000 runs
SCORES = {  # metrics of a split besides its loss, with their titles; data have those that are defined for them
    "accuracy": "accuracy",
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "roc_auc": "ROC-AUC",
    "average_precision": "average precision",
}
CLASS_METRICS = ("support", "precision", "recall", "f1")  # columns of per_class.csv
RAW = "raw/"  # before the names of metrics: those of predictions that were smoothed afterwards
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
        check_values(file, content)
        return content

    @property
    def metrics(self) -> dict[str, float] | None:
        """The final metrics; None while the run is not finished."""
        file = self.folder / METRICS
        return read_json(file) if os.path.lexists(file) else None

    @property
    def is_stage(self) -> bool:
        """Whether the run is a later stage of another run."""
        return bool(re.fullmatch(STAGE.format(number=r"\d+"), self.folder.name)) and (self.folder.parent / RUN).exists()

    @property
    def best_stage(self) -> "Run":
        """The stage whose network and metrics are the result; the run itself if it has no later stages."""
        file = self.folder / STAGES
        number = read_json(file).get("best", 1) if file.is_file() else 1
        return self if number == 1 else Run(self.folder / STAGE.format(number=number))

    @property
    def pseudo_labels(self) -> Path | None:
        """The file of the predictions that a later stage was trained on."""
        file = self.folder / PSEUDO_LABELS
        return file if file.is_file() else None

    @property
    def last_checkpoint(self) -> Path | None:
        """The checkpoint from which an unfinished run resumes."""
        file = self.folder / CHECKPOINTS / "last.ckpt"
        return file if file.is_file() else None

    def epochs(self) -> list[dict[str, float]]:
        """Read the metrics of each epoch; a last row that a crash cut short is left out."""
        file = self.folder / EPOCHS
        if not os.path.lexists(file):
            return []
        header, rows = read_csv(file)
        return [dict(zip(header, numbers(file, row), strict=True)) for row in rows]

    def per_class(self) -> list[dict[str, Any]]:
        """Read the metrics of each class on the test split, as far as they are defined."""
        file = self.folder / PER_CLASS
        if not os.path.lexists(file):
            return []
        header, rows = read_csv(file)
        if missing := [name for name in ("class", *CLASS_METRICS) if name not in header]:
            raise SignError(f"{file}: has no column {missing[0]}")
        found = []
        for row in rows:
            values = dict(zip(header, row, strict=True))
            metrics = numbers(file, [values[name] or "nan" for name in CLASS_METRICS])
            found.append({"class": values["class"]} | dict(zip(CLASS_METRICS, metrics, strict=True)))
        return found

    def confusion(self) -> tuple[list[str], list[list[int]]] | None:
        """Read the confusion matrix of the test split: the classes, and one row of counts per true class."""
        file = self.folder / CONFUSION
        if not os.path.lexists(file):
            return None
        header, rows = read_csv(file)
        classes = header[1:]
        if not classes or classes != [row[0] for row in rows]:
            raise SignError(f"{file}: is not a square table with the same classes in its header and its first column")
        counts = [numbers(file, row[1:]) for row in rows]
        if any(count < 0 or not count.is_integer() for row in counts for count in row):
            raise SignError(f"{file}: contains a value that is not a count")
        return classes, [[int(count) for count in row] for row in counts]


@dataclass(frozen=True)
class Series:
    """A folder of runs that differ only in their seed."""

    folder: Path

    @cached_property
    def description(self) -> dict[str, Any]:
        """``series.json``: the configuration in brief, the finished seeds, and the metrics over them."""
        return read_json(self.folder / SERIES, MAX_SERIES_BYTES)

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
    """All runs in or below ``folders``, in natural order; those of series and searches are included.

    The later stages of a run are parts of it, and left out.
    """
    return [run for run in map(Run, _folders_with(RUN, folders)) if not run.is_stage]


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
