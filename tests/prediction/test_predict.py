"""Predictions, embeddings and hop rows, of the graph of a run and of others."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
import torch
from common.trained import settings_of, train, write_graph

from sign.datasets.synthetic.communities import Communities
from sign.errors import SignError
from sign.graph.csr_transforms import induced_subgraph
from sign.graph.graph import SPLITS, Graph
from sign.prediction.model import TrainedModel
from sign.prediction.predict import predict, select_rows
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


def test_hops_of_the_splits_are_found_in_the_store(people: Path) -> None:
    for split in SPLITS:
        settings, model = settings_of(people), TrainedModel.load(people)
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


def test_an_unknown_class_of_a_new_graph_is_named(people: Path, tmp_path: Path) -> None:
    other = write_graph(tmp_path / "other")
    (other / "nodes.csv").write_text((other / "nodes.csv").read_text().replace("dog", "bird"))
    with pytest.raises(SignError, match="other: has the class 'bird', which the model does not know"):
        written(people, tmp_path / "p.csv", {"path": str(other)})


def test_missing_features_of_a_new_graph_are_filled_with_the_means_of_training(tmp_path: Path) -> None:
    graph = write_graph(tmp_path / "people")
    run = train(tmp_path, "dataset=custom", f"dataset.path={graph}", "dataset.fill=mean", "model.p=0",
                "scaling.features=none", "scaling.hops=none")  # fmt: skip
    loaded = settings_of(run).dataset.load()
    other = write_graph(tmp_path / "other", labelled=False)
    lines = (other / "nodes.csv").read_text().splitlines()
    lines[1] = lines[1].split(",")[0] + ",,0"  # without an age
    (other / "nodes.csv").write_text("\n".join(lines) + "\n")
    rows = written(run, tmp_path / "rows.npy", {"path": str(other)}, what="hops")
    assert rows[0, 0] == pytest.approx(loaded.features[loaded.train, 0].mean(dtype=np.float64))


def test_categories_are_those_of_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = write_graph(tmp_path / "people", columns=("age",))
    lines = (graph / "nodes.csv").read_text().splitlines()
    (graph / "nodes.csv").write_text(
        "\n".join([f"{lines[0]},country", *(f"{line},{'ABC'[n % 3]}" for n, line in enumerate(lines[1:]))])
    )
    encoded = ("dataset.one_hot=[country]", "scaling.features=none", "scaling.hops=none", "model.p=0")
    run = train(tmp_path, "dataset=custom", f"dataset.path={graph}", *encoded)
    other = tmp_path / "other"
    shutil.copytree(graph, other)
    (other / "nodes.csv").write_text((graph / "nodes.csv").read_text().replace(",B\n", ",D\n"))  # no B, but D
    caplog.set_level("INFO", "sign")
    rows = written(run, tmp_path / "rows.npy", {"path": str(other)}, what="hops")
    assert "column country: D did not occur in training, and counts as no category" in caplog.messages
    assert TrainedModel.load(run).feature_names == ["age", "country=A", "country=B", "country=C"]
    assert rows[:3, 1:].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_bfloat16_predicts_nearly_the_same(people: Path, tmp_path: Path) -> None:
    full, half = (
        written(people, tmp_path / "p.npy", probabilities="all", precision=precision)
        for precision in ("float32", "bf16")
    )
    assert half.dtype == full.dtype
    assert 0 < np.abs(half - full).max() < 0.02
    with pytest.raises(SignError, match="precision=bf16: is that of the network, which what=hops does not use"):
        written(people, what="hops", precision="bf16")


COMMUNITIES = ("dataset=communities", "dataset.nodes=2000", "dataset.edges=10000")


def test_a_model_of_one_graph_scores_another_of_the_same_communities(tmp_path: Path) -> None:
    wide = ("model.inception_units=64", "model.classification_units=64", "training.batch_size=128")
    run = train(tmp_path, *COMMUNITIES, *wide, "training.max_epochs=5")
    accuracy = []
    for sample in (0, 1):
        dataset = {"sample": sample}
        labels = settings_of(run, dataset=dataset).dataset.load().labels
        accuracy.append(np.mean(written(run, tmp_path / f"{sample}.npy", dataset) == labels))
    assert min(accuracy) > 0.7
    other = np.mean(written(run, tmp_path / "other.npy", {"seed": 1}) == labels)
    assert other < 0.5  # other communities: it is no accident


def write_arrays(folder: Path, graph: Graph) -> dict[str, object]:
    """Write a graph without labels and ids; return the settings that read it."""
    folder.mkdir()
    np.save(folder / "edges.npy", np.stack([graph.adjacency.row_indices(), graph.adjacency.indices]))
    np.save(folder / "features.npy", graph.features)
    return {"path": str(folder)}


def test_only_rows_that_can_have_changed_are_computed_for_a_new_version(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = Communities(nodes=2020, edges=6000, features=16).load()
    first = np.arange(2000)
    splits = {"train": first[:1000], "val": first[1000:1500], "test": first[1500:]}
    part = replace(whole, adjacency=induced_subgraph(whole.adjacency, first), features=whole.features[:2000],
                   labels=whole.labels[:2000], **splits)  # fmt: skip
    old, new = write_arrays(tmp_path / "old", part), write_arrays(tmp_path / "new", whole)
    np.save(tmp_path / "old" / "labels.npy", part.labels)
    run = train(tmp_path, "dataset=custom", f"dataset.path={old['path']}", "model.p=2", "scaling.features=none")
    written(run)
    caplog.set_level("INFO", "sign")
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(map(str, range(2000, 2020))))
    for nodes in (str(ids), "all"):  # the one per cent of new nodes, and all
        ours = written(run, tmp_path / "ours.npy", new, nodes=nodes, probabilities="all")
        elsewhere = Prediction(run=str(run), output=str(tmp_path / "long.npy"), nodes=nodes, probabilities="all")
        empty = settings_of(run, dataset=new, paths={"store_dir": str(tmp_path / f"empty-{ids.name == nodes}")})
        predict(empty, TrainedModel.load(run), elsewhere)
        np.testing.assert_array_equal(ours, np.load(tmp_path / "long.npy"))
        assert len(ours) == (2020 if nodes == "all" else 20)
    assert any("rows that can differ from old/" in message for message in caplog.messages)
