"""A Data object of PyG is read as the parts of a graph, or refused with the reason."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

from sign.datasets.custom.pyg_data import read_pyg
from sign.errors import SignError


def save(file: Path, **changes: Any) -> Path:
    """Save three nodes and two edges; a change to None removes a field."""
    fields = {"x": torch.eye(3), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.tensor([4, 7, 4])} | changes
    torch.save(Data(**{name: value for name, value in fields.items() if value is not None}), file)
    return file


def test_edges_features_and_labels_are_those_of_the_object(tmp_path: Path) -> None:
    parts = read_pyg(save(tmp_path / "data.pt"))
    assert (parts.source.tolist(), parts.target.tolist()) == ([0, 1], [1, 2])
    assert parts.features[:].tolist() == np.eye(3).tolist()
    assert (parts.labels.tolist(), parts.classes) == ([0, 1, 0], 2)
    assert parts.weights is None
    assert parts.splits is None


def test_weights_become_float32(tmp_path: Path) -> None:
    parts = read_pyg(save(tmp_path / "data.pt", edge_weight=torch.tensor([0.5, 2.0], dtype=torch.float64)))
    assert parts.weights is not None
    assert parts.weights.dtype == np.float32
    assert parts.weights.tolist() == [0.5, 2.0]


def test_masks_become_lists_of_nodes_and_a_missing_one_is_an_empty_split(tmp_path: Path) -> None:
    masks = {"train_mask": torch.tensor([True, False, True]), "test_mask": torch.tensor([False, True, False])}
    splits = read_pyg(save(tmp_path / "data.pt", **masks)).splits
    assert splits is not None
    assert {split: nodes.tolist() for split, nodes in splits.items()} == {"train": [0, 2], "val": [], "test": [1]}


def test_several_columns_of_labels_are_a_label_matrix(tmp_path: Path) -> None:
    labels = torch.tensor([[1, 0], [1, 1], [0, 0]])
    parts = read_pyg(save(tmp_path / "data.pt", y=labels))
    assert (parts.labels.tolist(), parts.classes) == (labels.tolist(), 2)


def test_other_fields_are_ignored(tmp_path: Path) -> None:
    assert read_pyg(save(tmp_path / "data.pt", comment="text", pos=torch.ones(9))).classes == 2


@pytest.mark.parametrize("name", ["x", "edge_index", "y"])
def test_a_missing_field_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(SignError, match=rf"data.pt: has no {name}; a graph needs x, edge_index and y"):
        read_pyg(save(tmp_path / "data.pt", **{name: None}))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "edge_index",
            torch.zeros(3, 2, dtype=torch.int64),
            r"edge_index has shape \(3, 2\); it must be integers, 2 × m",
        ),
        ("edge_index", torch.zeros(2, 2), "it must be integers"),
        ("y", torch.tensor([0, 1]), "has 2 rows for 3 nodes; write one row per node"),
        ("x", torch.ones(3), r"features must be numbers, \(nodes, columns\)"),
        ("val_mask", torch.tensor([True]), r"val_mask has shape \(1,\); it must be boolean, one value per node"),
        ("val_mask", torch.tensor([0, 1, 1]), "it must be boolean"),
        ("x", "text", "cannot be read as a Data object of PyG that contains only tensors"),
    ],
)
def test_a_field_of_the_wrong_shape_or_type_is_refused(tmp_path: Path, name: str, value: Any, message: str) -> None:
    with pytest.raises(SignError, match=message):
        read_pyg(save(tmp_path / "data.pt", **{name: value}))


@pytest.mark.parametrize(
    ("content", "message"),
    [({"x": torch.eye(3)}, "contains a dict; save a Data object"), (HeteroData(), "cannot be read as a Data object")],
)
def test_an_object_of_another_class_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    torch.save(content, tmp_path / "data.pt")
    with pytest.raises(SignError, match=f"data.pt: {message} of PyG"):
        read_pyg(tmp_path / "data.pt")
