"""Groups of nodes come from a column, an array or a tensor that the setting names."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sign.datasets.custom.dataset import Custom
from sign.errors import SignError
from sign.graph.graph import Graph

EDGES = "source,target\na,b\nb,c\nc,d\n"


def folder(path: Path, groups: tuple[str, ...]) -> str:
    """Four nodes with two features, a label, a split and a group."""
    rows = zip("abcd", (1, 2, 3, 4), "xyxy", ("train", "train", "train", "val"), groups, strict=True)
    (path / "nodes.csv").write_text("\n".join(["id,age,label,split,team", *(",".join(map(str, row)) for row in rows)]))
    (path / "edges.csv").write_text(EDGES)
    return str(path)


@pytest.mark.parametrize(
    ("groups", "expected"), [(("s", "r", "s", "t"), [0, 1, 0, 2]), (("7", "5", "7", "5"), [0, 1, 0, 1])]
)
def test_a_column_of_the_nodes_table_is_no_feature(
    tmp_path: Path, groups: tuple[str, ...], expected: list[int]
) -> None:
    graph = Custom(path=folder(tmp_path, groups), groups="team").load()
    assert graph.groups.tolist() == expected
    assert graph.feature_names == ("age",)
    inner = Custom(path=str(tmp_path), groups="team", inductive=True).load().induced_by_training()
    assert inner.groups.tolist() == expected[:3]


def test_an_array_beside_the_files_is_a_part_of_their_content(tmp_path: Path) -> None:
    path = folder(tmp_path, ("1", "2", "3", "4"))
    np.save(tmp_path / "team.npy", np.array([3, 3, 1, 1]))
    dataset = Custom(path=path, groups="team.npy", ignore=["team"])
    assert dataset.load().groups.tolist() == [1, 1, 0, 0]
    before = dataset.content_digest()
    np.save(tmp_path / "team.npy", np.array([3, 3, 1, 2]))
    assert dataset.content_digest() != before


def test_a_tensor_of_a_pyg_object(tmp_path: Path) -> None:
    data = Data(
        x=torch.eye(3),
        y=torch.tensor([0, 1, 0]),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        train_mask=torch.tensor([True, True, False]),
        team=torch.tensor([9, 4, 9]),
    )
    torch.save(data, tmp_path / "graph.pt")
    assert Custom(path=str(tmp_path / "graph.pt"), groups="team").load().groups.tolist() == [1, 0, 1]
    with pytest.raises(SignError, match=r"has no crew, which dataset.groups=crew names"):
        Custom(path=str(tmp_path / "graph.pt"), groups="crew").load()


def test_arrays_and_text_of_a_program() -> None:
    edges, x = [[0, 1], [1, 2]], np.eye(3)
    assert Graph.from_edges(edges, x, groups=["b", "a", "b"]).groups.tolist() == [1, 0, 1]
    with pytest.raises(SignError, match=r"groups: float64 of shape"):
        Graph.from_edges(edges, x, groups=[0.5, 1, 2])


def test_missing_groups_and_names_are_one_message(tmp_path: Path) -> None:
    path = folder(tmp_path, ("r", "", "s", "s"))
    with pytest.raises(SignError, match=r"column team: row 1 has no group; give each node one"):
        Custom(path=path, groups="team").load()
    with pytest.raises(SignError, match=r"dataset.groups=crew: is neither a column .* the columns are id, age, label"):
        Custom(path=path, groups="crew").load()
