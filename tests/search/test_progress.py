"""What a search shows."""

import io
from pathlib import Path

import pytest
from common.search import SPACE, command, search
from rich.console import Console

from sign.search import progress, results
from sign.search.scheduler import Progress, Search
from sign.search.slots import make_slots
from sign.search.study_db import Ledger

WHAT = {1: ["what=raise"], 3: ["loss=9.0"]}


def test_the_table_shows_what_is_done_running_failed_and_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=160)
    monkeypatch.setattr(progress, "console", screen)
    search(tmp_path, 3, make_slots(1, None, "cpu"), lambda number: WHAT.get(number, []))
    ledger = Ledger(tmp_path, "study", SPACE, 5)

    class Seen(progress.View):
        text = ""

        def moved(self, at_work: list[Progress]) -> None:
            super().moved(at_work)
            if at_work and at_work[0].epoch:
                paper = Console(file=io.StringIO(), width=160)
                paper.print(self.table(at_work))
                self.text = paper.file.getvalue()
                raise KeyboardInterrupt

    words = command(lambda number: WHAT.get(number, []))
    with pytest.raises(KeyboardInterrupt), Seen(ledger) as seen:
        Search(ledger, make_slots(None, [6], "auto"), words, seen).run()
    assert "study: 3 of 5 trials done, 1 running, 1 failed, best" in seen.text
    assert "gpu 6" in seen.text
    assert "9.0000" in seen.text


def test_lines_and_the_summary_where_there_is_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = Console(file=io.StringIO(), width=160)
    for module in (progress, results):
        monkeypatch.setattr(module, "console", paper)
    ledger = Ledger(tmp_path, "study", SPACE, 6)
    with progress.View(ledger) as lines:
        words = command(lambda number: WHAT.get(number, []) if number == 1 else [])
        Search(ledger, make_slots(1, None, "cpu"), words, lines).run()
    assert ledger.best is not None
    results.show(ledger, ledger.best, "python src/train.py experiment=best runs=10")
    text = paper.file.getvalue()
    assert "trial 1: failed: RuntimeError: CUDA out of memory, 0 s on cpu; 2 of 6" in text
    assert text.count("trial ") >= 6
    assert "python src/train.py experiment=best runs=10" in text
    assert "1.00" in text  # all importance is that of x
