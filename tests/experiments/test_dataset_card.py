"""The card of a graph: known answers on graphs that fit on paper."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.commands import command

from sign.commands.describe import print_card
from sign.datasets.cora import Cora
from sign.datasets.synthetic.communities import Communities
from sign.engines.local.engine import LocalEngine
from sign.experiments import dataset_card
from sign.graph.graph import Graph
from sign.testing import graph_of

ENGINE = LocalEngine(threads=1)


@pytest.fixture
def kite() -> Graph:
    """A triangle 0 1 2 with a tail 2 - 3, a pair 4 - 5, a loop at 0, and 6 alone; 3 is in no split, 6 unlabelled."""
    features = np.zeros((7, 5), np.float32)
    features[0] = 1
    graph = graph_of([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5), (0, 0)], 7, features=features)
    return replace(
        graph,
        labels=np.array([0, 0, 1, 1, 0, 1, -1]),
        classes=3,
        train=np.array([0, 1]),
        val=np.array([2]),
        test=np.array([4, 5]),
    )


def test_the_card_of_a_kite(kite: Graph) -> None:
    card = dataset_card.card_of(kite, ENGINE)
    assert (card.graph.edges, card.graph.adjacency.self_loops, card.isolated) == (6, 1, 1)
    assert card.degrees.tolist() == [2, 2, 3, 1, 1, 1, 0]
    assert (card.components, card.largest) == (3, 4)
    assert card.homophily == pytest.approx(2 / 5)  # 0 - 1 and 2 - 3, of five that are no loops
    assert card.class_sizes.tolist() == [3, 3, 0]
    assert (card.unlabelled, card.untrained) == (1, 2)
    assert card.splits == {"train": 2, "val": 1, "test": 2}
    assert card.density == pytest.approx(1 / 7)
    assert card.hop_bytes == 5 * 5 * 4
    assert card.hop_seconds > 0


def test_directed_edges_are_counted_once_and_neighbours_in_both_directions() -> None:
    card = dataset_card.card_of(graph_of([(0, 1), (1, 0), (1, 2)], 3, directed=True), ENGINE)
    assert card.graph.edges == 3
    assert card.degrees.tolist() == [1, 2, 1]
    assert card.components == 1


def test_duplicate_edges_are_counted() -> None:
    listed = [(0, 1), (1, 0), (1, 2), (1, 2), (2, 2), (2, 2)]
    undirected, directed = (dataset_card.card_of(graph_of(listed, 3, directed=way), ENGINE) for way in (False, True))
    assert (undirected.graph.edges, undirected.duplicates) == (3, 3)
    assert (directed.graph.edges, directed.duplicates) == (4, 2)
    assert dataset_card.card_of(graph_of(listed[1:3], 3), ENGINE).duplicates == 0


def test_multilabel_data_have_no_homophily() -> None:
    card = dataset_card.card_of(Communities(nodes=100, edges=200, multilabel=True).load(), ENGINE)
    assert card.homophily is None
    assert len(card.class_sizes) == 10


def test_the_known_facts_of_cora() -> None:
    card = dataset_card.card_of(Cora().load(), ENGINE)
    assert (card.graph.edges, card.components, card.isolated, card.degrees.max()) == (5278, 78, 0, 168)
    assert card.homophily == pytest.approx(0.81, abs=0.001)


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs_are_printed_and_drawn(
    edges: list[tuple[int, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = dataset_card.card_of(graph_of(edges, 2), ENGINE)
    print_card(card)
    assert f"{2 - 2 * len(edges)} isolated nodes" in capsys.readouterr().out
    assert dataset_card.save(card, tmp_path / "cards").stat().st_size > 5000


@pytest.mark.slow
def test_the_command_prints_the_card_and_where_it_is_drawn(tmp_path: Path) -> None:
    result = command(tmp_path, "dataset=cora", program="describe")
    assert result.returncode == 0, result.stderr
    assert "5,278 undirected" in result.stdout
    assert "151 of 5,429 listed edges" in " ".join(result.stdout.replace("│", "").split())
    assert (tmp_path / result.stdout.splitlines()[-1]).is_file()
    wrong = command(tmp_path, "dataset=custom", program="describe")
    assert wrong.stderr.strip() == "error: dataset.path: has no default; set dataset.path=…"
