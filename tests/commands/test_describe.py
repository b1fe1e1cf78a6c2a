"""The command ``src/describe.py``: what it prints."""

from dataclasses import replace

import pytest

from sign.commands.describe import print_card
from sign.engines.local.engine import LocalEngine
from sign.experiments.dataset_card import card_of
from sign.testing import path


def test_card_is_readable_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_card(replace(card_of(path(3), LocalEngine()), duplicates=10**9, untrained=10**6, unlabelled=10**9))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(word for line in lines for word in line.replace("│", " ").split())
    assert "1,000,000,000 of 1,000,000,002 listed edges are an edge again, or its reverse" in text
    assert "…" not in text
