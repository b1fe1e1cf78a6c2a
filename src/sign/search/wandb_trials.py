"""A search in Weights & Biases: a group a study, a run a trial, and a run that shows all of them.

It is done beside the search, in one thread, so that no slot waits for a service.
"""

import queue
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from sign.runs import find_runs
from sign.search.study_db import FINISHED, Ledger
from sign.system.console import console
from sign.tracking.base import RunInfo, Tracker
from sign.tracking.wandb import WandB

SENT = ".sent"  # a file beside what the tracker has


class Tracking:
    """Sends each trial that ends to the tracker of the configuration, if it is W&B."""

    def __init__(self, tracker: Tracker, ledger: Ledger, tags: list[str]) -> None:
        self.tracker = tracker if isinstance(tracker, WandB) else None
        self.ledger, self.tags = ledger, tags
        self.waiting: queue.Queue[FrozenTrial | None] = queue.Queue()

    def __enter__(self) -> "Tracking":
        if self.tracker:
            for trial in self.ledger.trials:  # that ended here, before an interruption
                if trial.state in FINISHED and self.ledger.folder_of(trial.number).is_dir():
                    self.waiting.put(trial)
            self.thread = threading.Thread(target=self._work, args=[self.tracker], daemon=True)
            self.thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.tracker:
            self.waiting.put(None)
            if kind is None:
                self.thread.join()

    def ended(self, number: int) -> None:
        """Send a trial, when its turn comes."""
        self.waiting.put(self.ledger.trials[number])

    def summarise(self) -> None:
        """The run that shows the study: a table of all trials, and their parallel coordinates."""
        done = self.ledger.folder / f"{SENT}-{self.ledger.total}"
        if self.tracker is None or done.exists():
            return
        try:
            self._summarise(self.tracker)
            done.touch()
        except Exception as error:  # nor does it end with one
            console.print(f"W&B: the summary was not sent ({type(error).__name__})", soft_wrap=True)

    def _summarise(self, tracker: WandB) -> None:
        import wandb
        from optuna.visualization import plot_parallel_coordinate

        trials = [trial for trial in self.ledger.trials if trial.state == TrialState.COMPLETE]
        names = list(self.ledger.space)
        rows = [[trial.number, *(trial.params.get(name) for name in names), trial.value] for trial in trials]
        with tracker.open_run(self._card("summary", self.ledger.folder, {})) as run:
            run.log({"trials": wandb.Table(["trial", *names, "val/loss"], rows)})
            if len(trials) > 1:
                run.log({"parallel coordinates": wandb.Plotly(plot_parallel_coordinate(self.ledger.study))})
            if best := self.ledger.best:
                run.summary.update({"best/trial": best.number, "best/val/loss": best.value})

    def _work(self, tracker: WandB) -> None:
        while (trial := self.waiting.get()) is not None:
            try:
                self._send(tracker, trial)
            except Exception as error:  # a tracker never ends a search
                console.print(
                    f"W&B: trial {trial.number} was not sent ({type(error).__name__})", soft_wrap=True
                )

    def _send(self, tracker: WandB, trial: FrozenTrial) -> None:
        folder = self.ledger.folder_of(trial.number)
        if (folder / SENT).exists():
            return
        config = {**trial.params, "trial": trial.number, "state": trial.state.name.lower()}
        with tracker.open_run(self._card(f"trial {trial.number}", folder, config)) as run:
            for row in _epochs(folder):
                run.log(row)
            known = {name: trial.user_attrs.get(name) for name in ("seconds", "reason")}
            run.summary.update({"val/loss": trial.value, **known})
        (folder / SENT).touch()

    def _card(self, name: str, folder: Path, config: dict[str, Any]) -> RunInfo:
        study = self.ledger.study.study_name
        return RunInfo(f"{study} {name}", study, "search", self.tags, config, folder)


def _epochs(folder: Path) -> Iterable[dict[str, float]]:
    """The epochs of the first run of a trial that was finished, or of the one that was not."""
    runs = find_runs([folder])
    finished = [run for run in runs if run.metrics is not None]
    return (finished or runs)[0].epochs() if runs else []
