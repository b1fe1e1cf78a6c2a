"""Features and times of edges come from columns, arrays or tensors that the settings name."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from sign.datasets.custom.dataset import Custom
from sign.errors import SignError
from sign.graph.graph import Graph

SETTINGS = {"edge_features": ["length", "kind"], "edge_time": "when"}
EXPECTED = [[1.5, 0], [1.5, 0], [2, 1], [2, 1]]


def folder(path: Path, ending: str) -> Path:
    """Three nodes, two edges of which one is listed twice, in a table of this kind."""
    columns = {
        "source": ["a", "b", "b"],
        "target": ["b", "a", "c"],
        "when": [5.0, 7.0, 6.0],
        "length": [1.5, 1.5, 2.0],
        "kind": [0, 0, 1],
        "note": ["x", "y", "z"],
    }
    path.mkdir()
    (path / "nodes.csv").write_text("id,age,label,split\na,1,x,train\nb,2,y,train\nc,3,x,val\n")
    if ending == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table(columns), path / "edges.parquet")
    else:
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        (path / "edges.csv").write_text("\n".join(lines) + "\n")
    return path


def check(graph: Graph) -> None:
    assert graph.edge_features.tolist() == EXPECTED
    assert graph.edge_times.times.tolist() == [5, 7, 5, 6, 7, 6]
    assert graph.edge_times.targets.tolist() == [1, 1, 0, 2, 0, 1]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_columns_of_a_table(tmp_path: Path, ending: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "sign")
    dataset = Custom(path=str(folder(tmp_path / "graph", ending)), **SETTINGS)
    check(graph := dataset.load())
    assert graph.edge_feature_names == ("length", "kind")
    assert "not used: note" in caplog.text


def test_arrays_beside_an_array_of_edges(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("age,label,split\n1,x,train\n2,y,train\n3,x,val\n")
    np.save(tmp_path / "edges.npy", np.array([[0, 1], [1, 0], [1, 2]]))
    np.save(tmp_path / "attributes.npy", np.array([[1.5, 0], [1.5, 0], [2, 1]]))
    np.save(tmp_path / "when.npy", np.array([5, 7, 6]))
    dataset = Custom(path=str(tmp_path), edge_features=["attributes.npy"], edge_time="when.npy")
    before = dataset.content_digest()
    check(graph := dataset.load())
    assert graph.edge_feature_names == ()
    np.save(tmp_path / "when.npy", np.array([5, 7, 8]))
    assert dataset.content_digest() != before
    with pytest.raises(SignError, match=r"dataset.edge_time=then.npy: .* must be the name of a .npy file"):
        Custom(path=str(tmp_path), edge_time="then.npy").load()


def test_tensors_of_pyg(tmp_path: Path) -> None:
    data = Data(
        x=torch.eye(3),
        y=torch.tensor([0, 1, 0]),
        edge_index=torch.tensor([[0, 1, 1], [1, 0, 2]]),
        edge_attr=torch.tensor([[1.5, 0], [1.5, 0], [2, 1]]),
        when=torch.tensor([5, 7, 6]),
        train_mask=torch.tensor([True, True, False]),
    )
    torch.save(data, tmp_path / "graph.pt")
    check(Custom(path=str(tmp_path / "graph.pt"), edge_features=["edge_attr"], edge_time="when").load())
    with pytest.raises(SignError, match=r"has no then, which dataset.edge_time=then names"):
        Custom(path=str(tmp_path / "graph.pt"), edge_time="then").load()


def test_the_inductive_training_graph_has_them(tmp_path: Path) -> None:
    inner = (
        Custom(path=str(folder(tmp_path / "graph", ".csv")), inductive=True, **SETTINGS).load().induced_by_training()
    )
    assert inner.edge_features.tolist() == EXPECTED[:2]
    assert inner.edge_times.times.tolist() == [5, 7, 5, 7]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("when", "then", "has no column when, which dataset.edge_time=when names"),
        ("5.0", "", "when: row 0 is missing or infinite; complete it"),
        ("2.0,1", "long,1", r"length: not every cell is a number .* encode text as numbers first"),
        ("2.0,1", "1e300,1", "which is infinite in float32"),
        ("7.0,1.5", "7.0,1.25", r"between `a` and `b` is listed with different features; .* dataset.combine=mean"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = folder(tmp_path / "graph", ".csv") / "edges.csv"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(SignError, match=message):
        Custom(path=str(tmp_path / "graph"), **SETTINGS).load()


def test_different_features_are_combined_on_request(tmp_path: Path) -> None:
    file = folder(tmp_path / "graph", ".csv") / "edges.csv"
    file.write_text(file.read_text().replace("7.0,1.5", "7.0,2.5"))
    graph = Custom(path=str(tmp_path / "graph"), combine="mean", **SETTINGS).load()
    assert graph.edge_features[0].tolist() == [2, 0]
