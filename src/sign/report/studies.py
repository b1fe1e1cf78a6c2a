"""Hyperparameter searches among the run folders: trials, importances and the best value so far."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.report.run_records import FolderProblem, damaged
from sign.runs import STUDY, read_json


def read_studies(folders: Iterable[Path]) -> tuple[list[dict[str, Any]], list[FolderProblem]]:
    """Read every study in or below ``folders``; the second list names the damaged ones."""
    studies, problems = [], []
    for file in dict.fromkeys(file for folder in folders for file in sorted(Path(folder).rglob(STUDY))):
        try:
            studies.append(_study(file))
        except (SignError, ValueError, TypeError, AttributeError, KeyError) as error:
            problems.append(damaged(file.parent, error))
    return studies, problems


def _study(file: Path) -> dict[str, Any]:
    description = read_json(file)
    trials = description.get("trials")
    if not isinstance(trials, list):
        raise SignError(f"{file}: has no list of trials")
    maximize = str(description.get("direction") or "minimize").lower().endswith("maximize")
    importances = description.get("importances") or {}
    return {
        "name": str(description.get("study") or description.get("name") or file.parent.name),
        "folder": str(file.parent),
        "dataset": file.parent.parents[1].name,
        "direction": "maximize" if maximize else "minimize",
        "metric": str(description.get("metric") or "value"),
        "importances": {
            str(name): value
            for name, value in sorted(importances.items(), key=lambda item: -_finite(item[1], 0.0))
            if _finite(value, None) is not None
        },
        "trials": _with_best([_trial(trial, index) for index, trial in enumerate(trials)], maximize),
    }


def _trial(trial: dict[str, Any], index: int) -> dict[str, Any]:
    params = trial.get("params") or {}
    return {
        "number": trial.get("number", index),
        "state": str(trial.get("state") or "unknown").lower(),
        "value": _finite(trial.get("value"), None),
        "seconds": _finite(trial.get("seconds"), None),
        "device": str(trial.get("device") or ""),
        "reason": str(trial.get("reason") or ""),
        "params": {str(name): value for name, value in params.items()},
    }


def _with_best(trials: list[dict[str, Any]], maximize: bool) -> list[dict[str, Any]]:
    """Add to each trial the best value of all complete trials up to it."""
    best = None
    for trial in sorted(trials, key=lambda trial: int(trial["number"])):
        value = trial["value"] if trial["state"].startswith("complete") else None
        if value is not None and (best is None or (value > best if maximize else value < best)):
            best = value
        trial["best"] = best
    return trials


def _finite(value: Any, default: Any) -> Any:
    return value if isinstance(value, int | float) and math.isfinite(value) else default
