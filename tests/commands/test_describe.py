"""The command ``src/describe.py``: what it prints."""

from dataclasses import replace

import numpy as np
import pytest

from sign.commands.describe import print_card
from sign.engines.local.engine import LocalEngine
from sign.experiments.dataset_card import card_of
from sign.graph.graph import Graph
from sign.testing import path


def test_card_is_readable_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_card(replace(card_of(path(3), LocalEngine()), duplicates=10**9, untrained=10**6, unlabelled=10**9))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(word for line in lines for word in line.replace("│", " ").split())
    assert "1,000,000,000 of 1,000,000,002 listed edges are an edge again, or its reverse" in text
    assert "…" not in text


@pytest.mark.parametrize(("directed", "count"), [(False, 3), (True, 4)])
def test_features_and_times_of_edges_are_shown(capsys: pytest.CaptureFixture[str], directed: bool, count: int) -> None:
    edges, lengths = np.array([[0, 1], [1, 0], [1, 2], [2, 2]]), [[1.0], [1.0], [2.0], [0.0]]
    graph = Graph.from_edges(
        edges, np.eye(3), [0, 1, 0], edge_features=lengths, edge_times=[5, 5, 7, 9], directed=directed
    )
    print_card(card_of(replace(graph, edge_feature_names=("length",)), LocalEngine()))
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 per edge: length" in shown
    assert f"{count} timed edges, from 5 to 9" in shown
