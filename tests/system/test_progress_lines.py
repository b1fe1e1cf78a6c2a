"""Progress lines replace a bar where there is no terminal."""

import pytest

from sign.system import console
from sign.system.console import ProgressLines


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    return now


def test_a_line_is_due_after_every_step_or_every_ten_seconds_whichever_is_rarer(clock: list[float]) -> None:
    short, long = ProgressLines(100), ProgressLines(100)
    due = []
    for step in range(12):
        clock[0] += 4.0
        due += [step] if short.due() else []
    assert due == [2, 5, 8, 11]
    clock[0] += 33.0
    assert long.due()
    clock[0] += 33.0
    assert long.due()


def test_a_terminal_shows_no_lines(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ProgressLines(100)
    monkeypatch.setattr(console, "console", console.Console(force_terminal=True))
    clock[0] += 60.0
    assert not lines.due()


def test_the_time_left_follows_from_the_steps_that_took_time(clock: list[float]) -> None:
    lines = ProgressLines(30, skipped=10)
    assert lines.left(10) == "an unknown time"
    clock[0] += 20.0
    assert lines.left(15) == "0:01:00"
    assert lines.left(30) == "0:00:00"
