"""Hyperparameter searches among the run folders: trials, importances and the best value so far."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.report.run_records import FolderProblem, damaged
from sign.runs import STUDY, read_json

TRIAL = ("number", "state", "value", "seconds", "device", "reason", "params")  # entries of a trial that are shown


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
    if not isinstance(description.get("trials"), list):
        raise SignError(f"{file}: has no list of trials")
    trials, best = [{key: trial[key] for key in TRIAL} for trial in description["trials"]], None
    for trial in trials:
        if trial["state"] == "complete" and trial["value"] is not None:
            best = trial["value"] if best is None else min(best, trial["value"])
        trial["best"] = best  # of the complete trials up to this one
    importances = {name: value for name, value in description["importances"].items() if math.isfinite(value)}
    return {
        "name": description["study"],
        "folder": str(file.parent),
        "dataset": file.parent.parents[1].name,
        "metric": description["metric"],
        "importances": dict(sorted(importances.items(), key=lambda item: -item[1])),
        "trials": trials,
    }
