"""The card of a graph: known answers on graphs that can be drawn."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.commands import command

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
    made = dataset_card.card_of(kite, ENGINE)
    assert (made.nodes, made.edges, made.loops, made.isolated) == (7, 6, 1, 1)
    assert made.degrees.tolist() == [2, 2, 3, 1, 1, 1, 0]
    assert (made.components, made.largest) == (3, 4)
    assert made.homophily == pytest.approx(2 / 5)  # 0 - 1 and 2 - 3, of five that are no loops
    assert made.balance.tolist() == [3, 3, 0]
    assert (made.unlabelled, made.untrained) == (1, 2)
    assert made.splits == {"train": 2, "val": 1, "test": 2}
    assert (made.columns, made.density) == (5, pytest.approx(1 / 7))
    assert made.hop_bytes == 5 * 5 * 4
    assert made.hop_seconds > 0


def test_directed_edges_are_counted_once_and_neighbours_in_both_directions() -> None:
    made = dataset_card.card_of(graph_of([(0, 1), (1, 0), (1, 2)], 3, directed=True), ENGINE)
    assert (made.edges, made.directed) == (3, True)
    assert made.degrees.tolist() == [1, 2, 1]
    assert made.components == 1


def test_edges_that_were_listed_again() -> None:
    listed = [(0, 1), (1, 0), (1, 2), (1, 2), (2, 2), (2, 2)]
    undirected, directed = (
        dataset_card.card_of(graph_of(listed, 3, directed=way), ENGINE) for way in (False, True)
    )
    assert (undirected.edges, undirected.loops, undirected.repeated) == (3, 1, 3)
    assert (directed.edges, directed.loops, directed.repeated) == (4, 1, 2)
    assert dataset_card.card_of(graph_of(listed[1:3], 3), ENGINE).repeated == 0


def test_several_labels_a_node_have_no_homophily() -> None:
    made = dataset_card.card_of(Communities(nodes=100, edges=200, multilabel=True).load(), ENGINE)
    assert made.homophily is None
    assert len(made.balance) == 10


def test_the_known_facts_of_cora() -> None:
    made = dataset_card.card_of(Cora().load(), ENGINE)
    assert (made.edges, made.components, made.isolated, made.degrees.max()) == (5278, 78, 0, 168)
    assert made.homophily == pytest.approx(0.81, abs=0.001)


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs_are_printed_and_drawn(
    edges: list[tuple[int, int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = dataset_card.card_of(graph_of(edges, 2), ENGINE)
    dataset_card.show(made)
    assert f"{2 - 2 * len(edges)} isolated nodes" in capsys.readouterr().out
    assert dataset_card.save(made, tmp_path / "cards").stat().st_size > 5000


def test_the_command_prints_the_card_and_where_it_is_drawn(tmp_path: Path) -> None:
    result = command(tmp_path, "dataset=cora", program="describe")
    assert result.returncode == 0, result.stderr
    assert "5,278 undirected" in result.stdout
    assert "151 of 5,429 that were listed" in " ".join(result.stdout.replace("│", "").split())
    assert (tmp_path / result.stdout.splitlines()[-1]).is_file()
    wrong = command(tmp_path, "dataset=custom", program="describe")
    assert wrong.stderr.strip() == "error: dataset.path: has no default; give dataset.path=…"
