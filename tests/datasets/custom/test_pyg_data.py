"""A Data object of PyG is read as the parts of a graph, or refused with the reason."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

from sign.datasets.custom.folder import GraphParts
from sign.datasets.custom.pyg_data import read_pyg
from sign.errors import SignError


def save(file: Path, **changes: Any) -> Path:
    """Save three nodes and two edges; a change to None removes a field."""
    fields = {"x": torch.eye(3), "edge_index": torch.tensor([[0, 1], [1, 2]]), "y": torch.tensor([4, 7, 4])} | changes
    torch.save(Data(**{name: value for name, value in fields.items() if value is not None}), file)
    return file


def read(file: Path) -> GraphParts:
    """Read a file; without masks, every split is drawn as empty."""
    return read_pyg(file, lambda labels: {})


def test_edges_features_and_labels_are_those_of_the_object(tmp_path: Path) -> None:
    parts = read(save(tmp_path / "data.pt"))
    assert (parts.edges.source.tolist(), parts.edges.target.tolist()) == ([0, 1], [1, 2])
    assert parts.features[:].tolist() == np.eye(3).tolist()
    assert (parts.labels.values.tolist(), parts.labels.names) == ([0, 1, 0], ("4", "7"))
    assert parts.edges.weights is None
    assert parts.splits == {}


def test_weights_become_float32(tmp_path: Path) -> None:
    parts = read(save(tmp_path / "data.pt", edge_weight=torch.tensor([0.5, 2.0], dtype=torch.float64)))
    assert parts.edges.weights is not None
    assert parts.edges.weights.dtype == np.float32
    assert parts.edges.weights.tolist() == [0.5, 2.0]


def test_masks_become_lists_of_nodes_and_a_missing_one_is_an_empty_split(tmp_path: Path) -> None:
    masks = {"train_mask": torch.tensor([True, False, True]), "test_mask": torch.tensor([False, True, False])}
    splits = read(save(tmp_path / "data.pt", **masks)).splits
    assert {split: nodes.tolist() for split, nodes in splits.items()} == {"train": [0, 2], "val": [], "test": [1]}


def test_several_columns_of_labels_are_a_label_matrix(tmp_path: Path) -> None:
    labels = torch.tensor([[1, 0], [1, 1], [0, 0]])
    parts = read(save(tmp_path / "data.pt", y=labels))
    assert (parts.labels.values.tolist(), parts.labels.classes) == (labels.tolist(), 2)


def test_other_fields_are_named_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sign")
    parts = read(save(tmp_path / "data.pt", comment="text", edge_attr=torch.ones(2, 1)))
    assert parts.edges.weights is None
    assert "not used: comment, edge_attr; save weights of edges as edge_weight" in caplog.text


def test_a_graph_may_have_no_features(tmp_path: Path) -> None:
    assert read(save(tmp_path / "data.pt", x=None)).features is None


def test_names_are_those_of_the_object(tmp_path: Path) -> None:
    names = {"class_names": list("abcdefgh"), "feature_names": ["x", "y", "z"], "node_ids": ["ann", "bob", "eve"]}
    parts = read(save(tmp_path / "data.pt", **names))
    assert parts.labels.names == ("e", "h")  # of the classes 4 and 7
    assert parts.feature_names == ("x", "y", "z")
    assert parts.node_ids.tolist() == ["ann", "bob", "eve"]
    assert read(save(tmp_path / "data.pt", node_ids=torch.tensor([7, 8, 9]))).node_ids.tolist() == [7, 8, 9]
    labels = torch.tensor([[1, 0], [1, 1], [0, 0]])
    assert read(save(tmp_path / "data.pt", y=labels, class_names=["red", "blue"])).labels.names == ("red", "blue")


@pytest.mark.parametrize("name", ["edge_index", "y"])
def test_a_missing_field_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(SignError, match=rf"data.pt: has no {name}; a graph needs edge_index and y"):
        read(save(tmp_path / "data.pt", **{name: None}))


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
        ("class_names", ["a", "b"], "y has class 7, but class_names has 2 names"),
        ("feature_names", [1, 2, 3], "feature_names must be a list of text"),
        ("node_ids", ["a", 2, 3], "node_ids must be a list of text or integers"),
        ("y", torch.zeros(1, dtype=torch.int64).expand(2**40), "more than the file contains; save a contiguous tensor"),
        ("x", torch.zeros(1, 1).expand(3, 2**40), "more than the file contains"),
        ("x", "text", "cannot be read as a Data object of PyG that contains only tensors"),
    ],
)
def test_a_field_of_the_wrong_shape_or_type_is_refused(tmp_path: Path, name: str, value: Any, message: str) -> None:
    with pytest.raises(SignError, match=message):
        read(save(tmp_path / "data.pt", **{name: value}))


@pytest.mark.parametrize(
    ("content", "message"),
    [({"x": torch.eye(3)}, "contains a dict; save a Data object"), (HeteroData(), "cannot be read as a Data object")],
)
def test_an_object_of_another_class_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    torch.save(content, tmp_path / "data.pt")
    with pytest.raises(SignError, match=f"data.pt: {message} of PyG"):
        read(tmp_path / "data.pt")


@pytest.mark.filterwarnings("default")
def test_a_pickle_of_another_program_is_refused_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    (tmp_path / "data.pt").write_bytes(pickle.dumps({"x": tmp_path}))
    with pytest.raises(SignError, match=r"data.pt: cannot be read as a Data object of PyG"):
        read(tmp_path / "data.pt")
    assert not recwarn.list
