"""Results of a study: ``study.json``, ``experiment/best.yaml``, the final table, and a summary run in the tracker."""

import logging
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import optuna
from omegaconf import DictConfig, OmegaConf
from optuna.trial import FrozenTrial, TrialState
from rich.table import Column, Table

from sign.config.identity import CHANGES_NUMBERS
from sign.runs import STUDY
from sign.search.study_db import OWNER, StudyDB
from sign.system.atomic_files import write_json, write_text
from sign.system.console import console
from sign.tracking.base import RunInfo, Tracker
from sign.tracking.wandb import WandB

BEST = Path("experiment") / "best.yaml"  # --config-dir <study folder> makes it available as experiment=best
COUNTED = [name for name, counts in CHANGES_NUMBERS.items() if counts and name != "seed"]
SUMMARIZED = "summarized"  # user attribute of the study: the total of trials in the last summary run

log = logging.getLogger(__name__)


def write_study(db: StudyDB, final: bool = False) -> None:
    """Write ``study.json`` from the database; importances are added at the end."""
    best = db.best_trial()
    write_json(
        db.folder / STUDY,
        {
            "study": db.name,
            "direction": db.direction,
            "metric": db.metric,
            "storage": db.lock.public_url,
            "total": db.total,
            "space": {name: str(distribution) for name, distribution in db.distributions.items()},
            "trials": [_describe(db, trial) for trial in db.read_trials()],
            "best": _describe(db, best) if best else None,
            "importances": importances(db) if final else {},
        },
    )


def _describe(db: StudyDB, trial: FrozenTrial) -> dict[str, Any]:
    attributes, owner = trial.user_attrs, trial.user_attrs.get(OWNER, {})
    return {
        "number": trial.number,
        "state": trial.state.name.lower(),
        "value": trial.value if trial.value is not None and math.isfinite(trial.value) else None,
        "params": trial.params,
        "seconds": attributes.get("seconds"),
        "reason": attributes.get("reason"),
        "device": owner.get("device"),
        "host": owner.get("host"),
        "folder": db.trial_folder(trial.number).name,
    }


def importances(db: StudyDB) -> dict[str, float]:
    """Return the share of each setting in the variance of the results; empty if there are too few trials."""
    if sum(trial.state == TrialState.COMPLETE for trial in db.read_trials()) < 4:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dict(optuna.importance.get_param_importances(db.study))
    except (ValueError, RuntimeError, ArithmeticError):  # all results are equal, or a setting never varied
        return {}


def write_best(db: StudyDB, trial: FrozenTrial, cfg: DictConfig) -> None:
    """Write the configuration of a trial as an experiment, with all settings, so later defaults do not change it."""
    choices = dict(cfg.hydra.runtime.choices)
    groups = ["dataset", "model", *(name for name in choices if name.startswith("operator@"))]
    defaults = [{f"override /{group}": choices[group]} for group in groups]
    experiment = OmegaConf.create({"defaults": [*defaults, "_self_"]})
    for name in COUNTED:
        value = OmegaConf.select(cfg, name)
        OmegaConf.update(experiment, name, OmegaConf.to_container(value) if OmegaConf.is_config(value) else value)
    file = db.folder / BEST
    file.parent.mkdir(exist_ok=True)
    comment = f"# trial {trial.number} of the study {db.name}: {db.metric} {trial.value:.6g}"
    write_text(file, f"# @package _global_\n{comment}\n{OmegaConf.to_yaml(experiment)}")


def show(db: StudyDB, best: FrozenTrial, params: Mapping[str, Any], command: str) -> None:
    """Print the best configuration, the importance of its settings, and the command that trains it over ten seeds.

    ``params`` are the values of the best trial that its model has.
    """
    states = [trial.state for trial in db.read_trials()]
    log.info(
        "the study %s is complete: %d trials with a result, %d failed, %d pruned",
        db.name,
        *(states.count(state) for state in (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)),
    )
    columns = Column("setting", style="dim"), Column("best", justify="right"), Column("importance", justify="right")
    table = Table(*columns, title=f"trial {best.number}, {db.metric} {best.value:.4f}", title_justify="left")
    shares = importances(db)
    for name, value in params.items():
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        table.add_row(name, text, f"{shares[name]:.2f}" if name in shares else "")
    console.print(table)
    log.info("to train it over ten seeds:\n%s", command)
    if db.total == len(db.queue) > 1:
        log.info("the grid was searched completely")
    else:
        log.info("to extend the study: the same command with search.trials=%d", 2 * db.total)


def log_summary(db: StudyDB, tracker: Tracker, tags: list[str]) -> None:
    """Log one run that summarizes the study, in the group of its trials; once per total of trials."""
    if not isinstance(tracker, WandB) or db.study.user_attrs.get(SUMMARIZED) == db.total:
        return
    try:
        with tracker.open_run(RunInfo(f"{db.name} summary", db.name, "search", tags, {}, db.folder)) as run:
            _log_tables(db, run)
        db.study.set_user_attr(SUMMARIZED, db.total)
    except Exception as error:  # a tracker must not fail a search
        log.warning("W&B: the summary of the study was not sent (%s)", type(error).__name__)


def _log_tables(db: StudyDB, run: Any) -> None:
    import wandb
    from optuna.visualization import plot_parallel_coordinate

    trials, names = [_describe(db, trial) for trial in db.read_trials()], list(db.distributions)
    rows = [
        [trial["number"], trial["state"], *(trial["params"].get(name) for name in names)]
        + [trial[name] for name in ("value", "seconds", "reason")]
        for trial in trials
    ]
    run.log({"trials": wandb.Table(["trial", "state", *names, db.metric, "seconds", "reason"], rows)})
    run.log({"importances": wandb.Table(["setting", "importance"], [[*pair] for pair in importances(db).items()])})
    if sum(trial["state"] == "complete" for trial in trials) > 1:
        run.log({"parallel coordinates": wandb.Plotly(plot_parallel_coordinate(db.study))})
    if best := db.best_trial():
        run.summary.update({"best/trial": best.number, f"best/{db.metric}": best.value})
        run.config.update(best.params)
