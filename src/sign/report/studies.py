"""Hyperparameter searches among the run folders: trials, importances and the best value so far."""

import re
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sign.errors import SignError
from sign.report.entries import Entries, is_number
from sign.report.run_records import FolderProblem, damaged
from sign.runs import STUDY
from sign.system.json_files import read_json

MAX_BYTES = 2**22  # of study.json: about 8,000 trials
CHOICE = re.compile(r"model|model\.[a-z]|operator@model\.operators\.\w+")  # settings that trials are compared by
BETTER = {"minimize": min, "maximize": max}


def read_studies(folders: Iterable[Path]) -> tuple[list[dict[str, Any]], list[FolderProblem]]:
    """Read every study in or below ``folders``; the second list names the damaged ones."""
    studies, problems = [], []
    for file in dict.fromkeys(file for folder in folders for file in sorted(Path(folder).rglob(STUDY))):
        try:
            studies.append(_study(file))
        except Exception as error:  # whatever a study holds, the others are shown
            problems.append(damaged(file.parent, error))
    return studies, problems


def _study(file: Path) -> dict[str, Any]:
    description = Entries(STUDY, read_json(file, MAX_BYTES))
    if not isinstance(description.values.get("trials"), list):
        raise SignError(f"{file}: has no list of trials")
    direction = description.text("direction") or "minimize"
    if direction not in BETTER:
        raise SignError(f"{file}: direction={direction}: must be minimize or maximize")
    trials, best = [_trial(trial) for trial in description.objects("trials")], None
    for trial in trials:
        if trial["state"] == "complete" and trial["value"] is not None:
            best = trial["value"] if best is None else BETTER[direction](best, trial["value"])
        trial["best"] = best  # of the complete trials up to this one
    importances = description.numbers("importances")
    return {
        "name": description.name("study"),
        "folder": str(file.parent),
        "dataset": "".join(file.absolute().parts[-4:-3]),  # <data set>/<model>/<study>/study.json
        "metric": description.name("metric"),
        "better": "higher" if direction == "maximize" else "lower",
        "importances": dict(sorted(importances.items(), key=lambda item: -item[1])),
        "trials": trials,
    }


def choices(studies: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare the complete trials of each study by model, operator and power, where several were tried."""
    rows: list[dict[str, Any]] = []
    for study in studies:
        complete = [trial for trial in study["trials"] if trial["state"] == "complete" and trial["value"] is not None]
        best = max if study["better"] == "higher" else min
        for setting in dict.fromkeys(name for trial in complete for name in trial["params"] if CHOICE.fullmatch(name)):
            values: dict[Any, list[float]] = {}
            for trial in complete:
                if setting in trial["params"]:
                    values.setdefault(trial["params"][setting], []).append(trial["value"])
            rows += [
                {"dataset": study["dataset"], "study": study["name"], "metric": study["metric"]}
                | {"setting": setting, "value": str(value), "trials": len(own)}
                | {"best": best(own), "median": statistics.median(own)}
                for value, own in sorted(values.items(), key=lambda item: str(item[0]))
                if len(values) > 1
            ]
    return rows


def _trial(trial: Entries) -> dict[str, Any]:
    if (number := trial.integer("number")) is None:
        raise SignError(f"{trial.where}: a trial has no number")
    params = Entries(f"{trial.where}: params", trial.values.get("params")).values
    return {
        "number": number,
        "state": trial.name("state"),
        "value": trial.number("value"),
        "seconds": trial.number("seconds"),
        "device": trial.text("device"),
        "reason": trial.text("reason"),
        "params": {name: value if is_number(value) else str(value) for name, value in params.items()},
    }
