"""What a search leaves behind: ``study.json``, ``experiment/best.yaml``, and what to do next."""

import math
import warnings
from pathlib import Path
from typing import Any

import optuna
from omegaconf import DictConfig, OmegaConf
from optuna.trial import FrozenTrial, TrialState
from rich.table import Table

from sign.search.study_db import Ledger
from sign.system.atomic_files import write_json, write_text
from sign.system.console import console

STUDY = "study.json"
BEST = Path("experiment") / "best.yaml"  # where --config-dir <study folder> finds experiment=best
SECTIONS = ("model", "training", "scaling", "dataset")  # what a trained network depends on


def write_study(ledger: Ledger, final: bool = False) -> None:
    """``study.json``, from what the database says."""
    best = ledger.best
    write_json(
        ledger.folder / STUDY,
        {
            "study": ledger.study.study_name,
            "direction": "minimize",
            "metric": "val/loss",
            "storage": ledger.turn.shown,
            "total": ledger.total,
            "space": {name: str(distribution) for name, distribution in ledger.space.items()},
            "trials": [_described(ledger, trial) for trial in ledger.trials],
            "best": _described(ledger, best) if best else None,
            "importances": importances(ledger) if final else {},
        },
    )


def _described(ledger: Ledger, trial: FrozenTrial) -> dict[str, Any]:
    known, owner = trial.user_attrs, trial.user_attrs.get("owner", {})
    return {
        "number": trial.number,
        "state": trial.state.name.lower(),
        "value": trial.value if trial.value is not None and math.isfinite(trial.value) else None,
        "params": trial.params,
        "seconds": known.get("seconds"),
        "reason": known.get("reason"),
        "device": owner.get("device"),
        "host": owner.get("host"),
        "folder": ledger.folder_of(trial.number).name,
    }


def importances(ledger: Ledger) -> dict[str, float]:
    """How much each setting matters to the validation loss, as shares; nothing where trials are too few."""
    done = [trial for trial in ledger.trials if trial.state == TrialState.COMPLETE]
    if len(done) < 4:
        return {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return dict(optuna.importance.get_param_importances(ledger.study))
    except (ValueError, RuntimeError, ArithmeticError):  # all losses equal, or a setting that never varied
        return {}


def write_best(ledger: Ledger, trial: FrozenTrial, cfg: DictConfig) -> None:
    """The configuration of a trial as an experiment: all of its settings, whatever the defaults become."""
    chosen = dict(cfg.hydra.runtime.choices)
    groups = ["dataset", "model", *(name for name in chosen if name.startswith("operator@"))]
    experiment = {
        "defaults": [{f"override /{group}": chosen[group]} for group in groups] + ["_self_"],
        **{name: OmegaConf.to_container(cfg[name], resolve=False) for name in SECTIONS},
    }
    file = ledger.folder / BEST
    file.parent.mkdir(exist_ok=True)
    head = f"# @package _global_\n# trial {trial.number} of the study {ledger.study.study_name}: "
    head += f"validation loss {trial.value:.6g}\n"
    write_text(file, head + OmegaConf.to_yaml(OmegaConf.create(experiment)))


def show(ledger: Ledger, best: FrozenTrial, command: str) -> None:
    """The best configuration, what mattered, and the command that trains it over ten seeds."""
    trials, found = ledger.trials, importances(ledger)
    counts = {state: sum(trial.state == state for trial in trials) for state in TrialState}
    console.print(
        f"the study {ledger.study.study_name} is complete: {counts[TrialState.COMPLETE]} trials with a result, "
        f"{counts[TrialState.FAIL]} failed, {counts[TrialState.PRUNED]} pruned",
        soft_wrap=True,
    )
    table = Table(title=f"trial {best.number}, val loss {best.value:.4f}", title_justify="left")
    table.add_column("setting", style="dim")
    table.add_column("best", justify="right")
    table.add_column("importance", justify="right")
    for name, value in best.params.items():
        shown = f"{value:.4g}" if isinstance(value, float) else str(value)
        table.add_row(name, shown, f"{found[name]:.2f}" if name in found else "")
    console.print(table)
    console.print("to train it over ten seeds:", soft_wrap=True)
    console.print(command, soft_wrap=True, markup=False)
    whole = ledger.total == len(ledger.queue) > 1
    extension = f"to extend the study: the same command with search.trials={2 * ledger.total}"
    console.print("the grid was searched whole" if whole else extension, soft_wrap=True)
