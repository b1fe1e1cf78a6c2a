"""The metrics of a checkpoint equal those of the end of its training."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.trained import settings_of, train, write_graph

from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel

MULTILABEL = ("dataset=communities", "dataset.nodes=150", "dataset.edges=500", "dataset.multilabel=true")


@pytest.mark.parametrize(
    "overrides",
    [
        ("scaling.features=standardize", "scaling.hops=l2"),
        ("dataset=communities", "dataset.nodes=150", "dataset.edges=500", "dataset.inductive=true", "model.s=1"),
        MULTILABEL,
        (*MULTILABEL, "training.threshold=validation"),
    ],
)
def test_metrics_equal_those_of_the_run(tmp_path: Path, overrides: tuple[str, ...]) -> None:
    run = train(tmp_path, *overrides)
    recorded = json.loads((run / "metrics.json").read_text())
    metrics = evaluate(settings_of(run), TrainedModel.load(run))
    assert len(metrics) >= 9
    assert metrics == {name: recorded[name] for name in metrics}


def test_classes_of_another_graph_are_found_by_name(tmp_path: Path) -> None:
    run = train(tmp_path, "dataset=custom", f"dataset.path={write_graph(tmp_path / 'people')}")
    settings, model = settings_of(run), TrainedModel.load(run)
    before = evaluate(settings, model, ["test"])
    # the same graph with other names, sorted the other way round
    text = (tmp_path / "people" / "nodes.csv").read_text().replace("cat", "zebra")
    (tmp_path / "people" / "nodes.csv").write_text(text)
    model.class_names[:] = ["zebra", "dog"]
    assert evaluate(settings, model, ["test"]) == before
    model.class_names[:] = ["cat", "dog"]
    with pytest.raises(SignError, match=r"has the class 'zebra', .* its classes are cat, dog"):
        evaluate(settings, model)


def test_thresholds_are_those_of_training_also_on_another_graph(tmp_path: Path) -> None:
    run = train(tmp_path, *MULTILABEL, "training.threshold=validation")
    settings, model = settings_of(run), TrainedModel.load(run)
    graph = settings.dataset.load()
    labels = graph.labels.copy()
    labels[graph.val] = 1 - labels[graph.val]
    other = replace(settings, dataset=InMemory.of(replace(graph, labels=labels)))
    assert evaluate(other, model, ["test"]) == evaluate(settings, TrainedModel.load(run), ["test"])


def test_a_graph_may_have_nodes_of_one_split_only(tmp_path: Path) -> None:
    run = train(
        tmp_path, "dataset=communities", "dataset.nodes=150", "dataset.edges=500", "scaling.features=standardize"
    )
    settings, model = settings_of(run), TrainedModel.load(run)
    nothing = np.empty(0, np.int64)
    only = replace(settings, dataset=InMemory.of(replace(settings.dataset.load(), train=nothing, val=nothing)))
    assert evaluate(only, model) == evaluate(settings, model, ["test"])
    with pytest.raises(SignError, match="communities: has no labelled nodes in this split"):
        evaluate(only, model, ["val"])


def test_several_labels_per_node_and_one_are_told_apart(tmp_path: Path) -> None:
    run = train(tmp_path, *MULTILABEL)
    with pytest.raises(SignError, match="has one label per node, but the model was trained on several labels per node"):
        evaluate(settings_of(run, dataset={"multilabel": False}), TrainedModel.load(run))


def test_other_numbers_of_classes_are_refused(tmp_path: Path) -> None:
    run = train(tmp_path, "dataset=communities", "dataset.nodes=150", "dataset.edges=500", "dataset.classes=3")
    with pytest.raises(SignError, match="has 4 classes, but the model was trained on 3"):
        evaluate(settings_of(run, dataset={"classes": 4}), TrainedModel.load(run))
