"""A search in W&B: a group a study, a run a trial, and a summary."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from common.search import SPACE, Silent, command

from sign.search.scheduler import Search
from sign.search.slots import make_slots
from sign.search.study_db import Ledger
from sign.search.wandb_trials import Tracking
from sign.tracking.base import NoTracker
from sign.tracking.wandb import WandB


def record(folder: Path) -> Path:
    """The file of the one offline run in a folder."""
    (file,) = (folder / "wandb").rglob("run-*.wandb")
    return file


def inspect(file: Path) -> str:
    """What W&B's own reader finds in an offline run."""
    program = Path(sys.executable).parent / "wandb"
    words = [program, "leet", "inspect", "--summary", "--json", file]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


class Sent(Silent):
    def __init__(self, tracking: Tracking) -> None:
        self.tracking = tracking

    def ended(self, number: int) -> None:
        self.tracking.ended(number)


def test_a_search_is_a_group_with_a_run_a_trial_and_a_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    ledger = Ledger(tmp_path, "a study", SPACE, 2)
    with Tracking(WandB(), ledger, ["cora"]) as tracking:
        words = command(lambda number: ["loss=0.25"])
        Search(ledger, make_slots(1, None, "cpu"), words, Sent(tracking)).run()
    tracking.summarise()
    for number in range(2):
        file = record(ledger.folder_of(number))
        found = inspect(file)
        assert f"a study trial {number}" in found
        raw = file.read_bytes()  # the reader leaves the group out
        assert raw.count(b"a study") > raw.count(b"a study trial")
        assert "val/loss" in found
        assert json.dumps(ledger.trials[number].params["x"])[:6] in found
    assert "a study summary" in inspect(record(tmp_path))
    files = [file.name for file in (tmp_path / "wandb").rglob("*.json")]
    assert any(name.startswith("trials") for name in files)
    assert any(name.startswith("parallel coordinates") for name in files)


def test_what_an_interruption_kept_from_the_tracker_is_sent_by_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    ledger = Ledger(tmp_path, "study", SPACE, 1)
    Search(ledger, make_slots(1, None, "cpu"), command(lambda number: ["loss=0.25"]), Silent()).run()
    for _ in range(2):  # once
        with Tracking(WandB(), ledger, []) as tracking:
            tracking.summarise()
    assert "study trial 0" in inspect(record(ledger.folder_of(0)))
    assert "study summary" in inspect(record(tmp_path))


def test_without_a_tracker_nothing_is_sent(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "study", SPACE, 1)
    with Tracking(NoTracker(), ledger, []) as tracking:
        Search(ledger, make_slots(1, None, "cpu"), command(lambda number: []), Sent(tracking)).run()
    tracking.summarise()
    assert not list(tmp_path.rglob("wandb"))
