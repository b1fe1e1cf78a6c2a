import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from common.graphs import dense_undirected, graphs, normalized
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import LabelPropagation as PyGLabelPropagation

from sign.baselines.label_propagation import LabelPropagation
from sign.config.settings import Settings
from sign.engines.local.engine import LocalEngine
from sign.errors import SignError
from sign.experiments.run import run
from sign.graph.graph import Graph
from sign.runs import METRICS, SMOOTHING, find_runs

CLASSES = 3
Configured = Callable[..., Settings]


@given(graphs().filter(lambda graph: graph.nodes > 2), st.integers(1, 8), st.booleans())
def test_it_is_pyg_s_label_propagation(graph: Graph, iterations: int, multilabel: bool) -> None:
    rng = np.random.default_rng(0)
    shape = (graph.nodes, CLASSES) if multilabel else graph.nodes
    labels = rng.integers(0, 2 if multilabel else CLASSES, shape)
    train, val = np.arange(0, graph.nodes, 2), np.arange(1, graph.nodes, 2)
    graph = replace(graph, labels=labels, classes=CLASSES, train=train, val=val)
    matrix = torch.from_numpy(normalized(dense_undirected(graph))).float()
    edges = matrix.nonzero().T
    y = torch.from_numpy(labels) if multilabel else torch.nn.functional.one_hot(torch.from_numpy(labels), CLASSES)
    expected = PyGLabelPropagation(iterations, 0.9)(y.float(), edges, torch.from_numpy(train), matrix[tuple(edges)])
    model = LabelPropagation(name="LP", alpha=[0.9], normalization=["symmetric"], iterations=iterations)
    ours = model.propagate(graph, LocalEngine(threads=1))
    np.testing.assert_allclose(ours.scores, expected.numpy(), atol=1e-5)
    assert ours.chosen == {"alpha": 0.9, "normalization": "symmetric"}


@pytest.mark.parametrize("inductive", [False, True])
def test_a_run_has_the_metrics_of_a_trained_model_and_the_setting_that_was_chosen(
    configured: Configured, inductive: bool
) -> None:
    graph = ("dataset=communities", "dataset.nodes=300", "dataset.edges=900", f"dataset.inductive={inductive}")
    settings = configured("model=label_propagation", *graph, "model.alpha=[0.5,0.9]")
    metrics = run(settings)
    assert metrics["val/accuracy"] > 0.5
    assert {"test/loss", "test/macro_f1", "test/roc_auc", "seconds/inference", "memory/peak_bytes"} <= set(metrics)
    (made,) = find_runs([settings.output_dir])
    assert made.metrics == pytest.approx(metrics)
    assert made.epochs() == []
    assert made.per_class()
    chosen = json.loads((made.folder / SMOOTHING).read_text())
    assert chosen["alpha"] in (0.5, 0.9)
    assert chosen["validation"] == pytest.approx(metrics["val/accuracy"])


def test_a_series_trains_it_once_per_seed(configured: Configured) -> None:
    from sign.config.configure import compose
    from sign.experiments.series import plan, train_series

    folders = configured("dataset=communities").output_dir.parent
    overrides = [f"paths.{kind}_dir={folders / kind}" for kind in ("data", "store", "output")]
    cfg = compose("logger=csv", "dataset=communities", "dataset.nodes=100", "dataset.edges=200", "runs=2",
                  "model=label_propagation", *overrides)  # fmt: skip
    series = train_series(plan(cfg))
    assert [(made.folder / METRICS).is_file() for made in series.runs] == [True, True]
    assert series.metrics["test/accuracy"]["std"] == 0


def test_what_it_does_not_have_is_refused(configured: Configured) -> None:
    for override, message in (
        ("smoothing=correct_and_smooth", "propagates labels itself"),
        ("model.alpha=[]", "model.(smooth_)?alpha"),
        ("engine=spark", "engine=local"),
        ("scaling.hops=l2", "has no hops"),
        ("trainer.devices=2", "use 1"),
    ):
        with pytest.raises(SignError, match=message):
            configured("model=label_propagation", override)
