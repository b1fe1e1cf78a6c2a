"""A checkpoint keeps the weights that operators learned, and applies them to any graph."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.trained import settings_of, train

from sign.datasets.in_memory import InMemory
from sign.operators.attention import Attention
from sign.prediction.evaluate import evaluate
from sign.prediction.model import TrainedModel

DATA = ("dataset=communities", "dataset.nodes=150", "dataset.edges=500", "dataset.inductive=true")
OPERATOR = ("operator@model.operators.p=attention", "model.operators.p.epochs=1")


def test_a_new_graph_is_scored_with_the_learned_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = train(tmp_path, *DATA, *OPERATOR)
    settings, model = settings_of(run), TrainedModel.load(run)
    monkeypatch.setattr(Attention, "learn", None)
    recorded, metrics = json.loads((run / "metrics.json").read_text()), evaluate(settings, model)
    assert metrics == {name: recorded[name] for name in metrics}
    graph = settings.dataset.load()
    other = replace(graph, labels=np.roll(graph.labels, 1), inductive=False)  # nothing of it may be learned from
    assert evaluate(replace(settings, dataset=InMemory.of(other)), model)["test/loss"] > 0
    operator, _ = model.operators(settings.powers)["p"]
    assert operator.describe()["seed"] == 0
    assert operator.describe()["learned_on"]
