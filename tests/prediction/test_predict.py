"""Predictions, embeddings and hop rows, of the graph of a run and of others."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
import torch
from common.trained import settings_of, train, write_graph

from sign.errors import SignError
from sign.graph.graph import SPLITS
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict
from sign.prediction.settings import Prediction

SCALED = ("scaling.features=standardize", "scaling.hops=l2")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a graph of the user's own."""
    folder = tmp_path_factory.mktemp("people")
    graph = write_graph(folder / "people")
    return train(folder, "dataset=custom", f"dataset.path={graph}", *SCALED)


def written(run: Path, output: Path | None = None, dataset: dict[str, object] | None = None, **request: Any) -> Any:
    prediction = Prediction(run=str(run), output=output and str(output), **request)
    predict(settings_of(run, dataset=dataset or {}), TrainedModel.load(run), prediction)
    if prediction.file.suffix == ".npy":
        return np.load(prediction.file)
    read = pyarrow.csv.read_csv if prediction.file.suffix == ".csv" else pyarrow.parquet.read_table
    return read(prediction.file)


def logits(run: Path, nodes: Any) -> np.ndarray:
    """The long way: hops by dense products, scaled by hand."""
    graph, model = settings_of(run).dataset.load(), TrainedModel.load(run)
    train_rows = graph.features[graph.train].astype(np.float64)
    x = (graph.features - train_rows.mean(axis=0)) / train_rows.std(axis=0)
    looped = graph.adjacency.to_scipy().toarray() + np.eye(graph.nodes)
    scale = looped.sum(axis=1) ** -0.5
    hops = [x, scale[:, None] * looped * scale @ x]
    rows = np.concatenate([hop / np.linalg.norm(hop, axis=1, keepdims=True) for hop in hops], axis=1)[nodes]
    with torch.no_grad():
        return model.task(torch.from_numpy(rows.astype(np.float32))).numpy()


def test_predictions_are_those_of_dense_hops(people: Path) -> None:
    table = written(people)
    expected = torch.from_numpy(logits(people, slice(None))).softmax(1).numpy()
    assert table["id"].to_pylist() == [f"n{node}" for node in range(40)]
    assert table["class"].to_pylist() == [("cat", "dog")[number] for number in expected.argmax(1)]
    np.testing.assert_allclose(table["probability"], expected.max(1), atol=1e-5)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_all_probabilities_and_the_first_classes_have_columns(people: Path, tmp_path: Path, ending: str) -> None:
    table = written(people, tmp_path / f"p{ending}", nodes="test", probabilities="all", top=2)
    names = ["id", "class_1", "probability_1", "class_2", "probability_2", "p_cat", "p_dog"]
    assert table.column_names == names
    np.testing.assert_allclose(np.add(table["p_cat"], table["p_dog"]), 1, atol=1e-6)
    assert (np.array(table["probability_1"]) >= np.array(table["probability_2"])).all()


def test_arrays_have_numbers_probabilities_embeddings_and_rows(people: Path, tmp_path: Path) -> None:
    output, graph = tmp_path / "a.npy", settings_of(people).dataset.load()
    expected = logits(people, graph.test)
    assert (written(people, output, nodes="test") == expected.argmax(1)).all()
    probabilities = written(people, output, nodes="test", probabilities="all")
    np.testing.assert_allclose(probabilities, torch.from_numpy(expected).softmax(1), atol=1e-5)
    embeddings = written(people, output, nodes="test", what="embeddings")
    network = TrainedModel.load(people).task.network
    with torch.no_grad():
        np.testing.assert_allclose(network.output(torch.from_numpy(embeddings)), expected, atol=1e-5)
        rows = written(people, output, nodes="test", what="hops")
        np.testing.assert_allclose(network.eval()(torch.from_numpy(rows)), expected, atol=1e-5)


def test_a_file_of_ids_selects_nodes_in_its_order(people: Path, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("n7\nn3\nn7\n")
    table, everything = written(people, nodes=str(tmp_path / "ids.txt")), written(people, tmp_path / "all.csv")
    assert table["id"].to_pylist() == ["n7", "n3", "n7"]
    assert table["class"].to_pylist() == [everything["class"].to_pylist()[node] for node in (7, 3, 7)]


def test_hops_of_the_splits_are_found_in_the_store(people: Path, caplog: pytest.LogCaptureFixture) -> None:
    for split in SPLITS:
        settings, model = settings_of(people), TrainedModel.load(people)
        from sign.prediction.predict import select_rows

        _, rows = select_rows(settings, model, split)
        assert rows.hops.computed == 0


def test_a_graph_without_labels_is_scored_with_the_scaling_of_training(people: Path, tmp_path: Path) -> None:
    same = settings_of(people).dataset.load()
    new = write_graph(tmp_path / "new", labelled=False)
    table = written(people, tmp_path / "new.parquet", {"path": str(new)})
    assert table["class"].to_pylist() == written(people)["class"].to_pylist()
    shifted = write_graph(tmp_path / "shifted", nodes=60, seed=1, labelled=False)
    assert len(written(people, tmp_path / "shifted.parquet", {"path": str(shifted)})) == 60 != same.nodes


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (("age",), "has 1 features, but the model was trained on 2; give it the same columns"),
        (("income", "age"), "has the feature 'income' where the model was trained on 'age'"),
    ],
)
def test_other_features_are_refused(people: Path, tmp_path: Path, columns: tuple[str, ...], message: str) -> None:
    other = write_graph(tmp_path / "other", columns=columns)
    with pytest.raises(SignError, match=message):
        written(people, tmp_path / "p.csv", {"path": str(other)})
    assert not (tmp_path / "p.csv").exists()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("some", "nodes=some: choose all, train, val, test, or a file of node ids"),
        ("no.txt", "nodes=no.txt: there is no such file"),
    ],
)
def test_other_nodes_are_refused(people: Path, tmp_path: Path, nodes: str, message: str) -> None:
    with pytest.raises(SignError, match=message):
        written(people, tmp_path / "p.csv", nodes=nodes)


def test_an_unknown_id_is_named(people: Path, tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("n7\nbob\n")
    with pytest.raises(SignError, match="'bob' is not the id of a node"):
        written(people, nodes=str(tmp_path / "ids.txt"))


def test_a_file_that_cannot_be_written_is_one_message_and_leaves_nothing(people: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SignError, match=r"output=.*p.csv: cannot be written"):
        written(people, tmp_path / "file" / "p.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_decisions_of_multilabel_models_use_their_thresholds(tmp_path: Path) -> None:
    run = train(tmp_path, "dataset=communities", "dataset.nodes=120", "dataset.edges=400", "dataset.multilabel=true",
                "training.threshold=validation")  # fmt: skip
    model = TrainedModel.load(run)
    chosen = written(run, tmp_path / "d.npy")
    probabilities = written(run, tmp_path / "p.npy", probabilities="all")
    np.testing.assert_array_equal(chosen, probabilities > np.array(model.thresholds))
    table = written(run)
    assert table["labels"].to_pylist() == [[str(n) for n in np.flatnonzero(row)] for row in chosen]
    assert written(run, tmp_path / "c.csv").column_names == ["id", "labels"]
