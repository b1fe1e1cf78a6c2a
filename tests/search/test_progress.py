"""The live table and the log lines of a search."""

import io
import logging
from pathlib import Path

import pytest
from common.search import SPACE, command, search
from rich.console import Console

from sign.search import progress
from sign.search.scheduler import RunningTrial, Scheduler
from sign.search.slots import SlotPool, make_slots
from sign.search.study_db import StudyDB

FAILURE = {1: ["what=raise"], 3: ["loss=9.0"]}


def test_the_table_shows_finished_running_failed_and_best_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=160)
    monkeypatch.setattr(progress, "console", screen)
    search(tmp_path, 3, make_slots(1, None, "cpu"), lambda number: FAILURE.get(number, []))
    db = StudyDB(tmp_path, "study", SPACE, 5)

    class Seen(progress.ProgressView):
        text = ""

        def update(self, running: list[RunningTrial]) -> None:
            super().update(running)
            if running and running[0].read_epochs("val/loss"):
                paper = Console(file=io.StringIO(), width=160)
                paper.print(self.table(running))
                self.text = paper.file.getvalue()
                raise KeyboardInterrupt

    trial_command = command(lambda number: FAILURE.get(number, []))
    with pytest.raises(KeyboardInterrupt), Seen(db) as seen:
        Scheduler(db, SlotPool(make_slots(None, [6], "auto")), trial_command, seen).run()
    assert "study: 3 of 5 trials done, 1 running, 1 failed, best" in seen.text
    assert "gpu 6" in seen.text
    assert "9.0000" in seen.text


def test_each_finished_trial_is_one_log_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "sign")
    db = StudyDB(tmp_path, "study", SPACE, 3)
    with progress.ProgressView(db) as view:
        trial_command = command(lambda number: FAILURE.get(number, []))
        Scheduler(db, SlotPool(make_slots(1, None, "cpu")), trial_command, view).run()
    assert len(caplog.messages) == 3
    assert caplog.messages[0].startswith("trial 0: val/loss 0.")
    assert caplog.messages[1].startswith("trial 1: failed: RuntimeError: CUDA out of memory, 0 s on cpu; 2 of 3")
