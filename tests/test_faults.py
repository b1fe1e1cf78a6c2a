"""Each campaign of ``make faults`` works; the campaigns themselves take too long for the suite."""

import os
import subprocess
import sys

import pytest
from common.paths import REPOSITORY
from faults.campaign import Try, summary, table
from faults.processes import message_flaw


@pytest.mark.slow
def test_a_few_tries_of_each_campaign_find_no_failure() -> None:
    path = os.pathsep.join(str(REPOSITORY / name) for name in ("src", "tests"))
    found = subprocess.run(
        [sys.executable, "-m", "faults", "--tries", "3"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        timeout=300,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert found.stdout.count("| fault | tries | failures |") == 5


def test_failures_and_skipped_tries_are_counted_by_kind() -> None:
    tries = [Try("kill", "a"), Try("kill", "b", "a difference"), Try("disk", "", skipped="needs root")]
    assert "| kill | 2 | 1 |" in table(tries)
    assert "| disk (skipped: needs root) | 0 | 0 |" in table(tries)
    assert summary(tries) == "2 tries, 1 failures, 1 skipped"


@pytest.mark.parametrize("message", ["", "one\ntwo", "\x1b[31mred"])
def test_a_message_is_one_line_of_printable_characters(message: str) -> None:
    assert message_flaw(message)
    assert not message_flaw("model.p=-1: a power must be an integer >= 0")
