"""What a baseline cannot do is one clear message."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from common.baselines import SYSTEMS, system
from omegaconf import OmegaConf

from sign.config import in_memory
from sign.config.settings import Settings
from sign.config.trained import trained_settings
from sign.datasets.in_memory import InMemory
from sign.errors import SignError
from sign.experiments.run import create_run_folder, prepare
from sign.graph.graph import Graph

Configured = Callable[..., Settings]


@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("graphsage", "model.fanouts=[5,0]", "model.fanouts=0: must be an integer >= 1"),
        ("graphsage", "model.fanouts=[]", "model.fanouts=[]: must have one number per layer"),
        ("fastgcn", "model.sizes=[]", "model.sizes=[]: must have one number per layer"),
        ("graphsaint", "model.sampler=tree", "model.sampler=tree: choose one of node, edge, walk"),
        ("graphsaint", "model.architecture=1-2", "model.architecture=1-2: must be 0 and 1 joined by hyphens"),
        ("node2vec", "model.context_size=30", "model.context_size=30: must be from 2 to walk_length, 10"),
        ("graphsage", "+model.p=2", "model.p: there is no such setting"),
        ("graphsage", "scaling.hops=l2", "scaling.hops=l2: GraphSAGE has no hops; use scaling.hops=none"),
        ("graphsage", "training.rows=disk", "training.rows=disk: GraphSAGE has no rows of hops; use auto"),
        ("graphsage", "training.shuffle=chunks", "training.shuffle=chunks: GraphSAGE has no rows of hops; use auto"),
        ("graphsage", "trainer.devices=2", "trainer.devices=2: GraphSAGE is trained by one process; use 1"),
        ("graphsage", "trainer.compile=true", "trainer.compile=true: batches of GraphSAGE have no fixed shape"),
        ("graphsage", "engine=spark", "engine=spark: GraphSAGE multiplies in every epoch, on this machine"),
    ],
)
def test_a_wrong_setting_is_reported_before_anything_is_loaded(
    configured: Configured, name: str, override: str, message: str
) -> None:
    with pytest.raises(SignError) as caught:
        configured(*system(name, override))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "override", "message"),
    [
        ("clustergcn", "model.clusters=301", "model.clusters=301: must be from 1 to the number of nodes, 300"),
        ("node2vec", "dataset.inductive=true", "dataset.inductive=true: Node2Vec has embeddings only for the nodes"),
    ],
)
def test_a_setting_that_does_not_suit_the_graph_is_reported(
    configured: Configured, name: str, override: str, message: str
) -> None:
    with pytest.raises(SignError) as caught:
        prepare(configured(*system(name, override)))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_graph_without_edges_is_reported(configured: Configured, name: str) -> None:
    splits = {"train": [0, 1], "val": [2], "test": [3]}
    graph = Graph.from_edges(np.zeros((2, 0), np.int64), np.eye(4), [0, 1, 0, 1], name="points", **splits)
    settings = replace(configured(*system(name)), dataset=InMemory.of(graph))
    with pytest.raises(SignError, match=r"points: the graph has no edges; \S+ needs them, use model=mlp"):
        prepare(settings)


def test_a_missing_pymetis_is_reported(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymetis", None)
    with pytest.raises(SignError, match=r"ClusterGCN needs METIS: pip install 'sign-gnn\[baselines\]'"):
        prepare(configured(*system("clustergcn")))


def test_exported_hops_cannot_train_a_baseline(configured: Configured, tmp_path: Path) -> None:
    from sign.diffusion.export import export

    source = configured("dataset=communities", "dataset.nodes=100", "dataset.edges=300").precomputation
    export(source, *source.run(), tmp_path / "pack")
    settings = configured("dataset=pack", f"dataset.path={tmp_path / 'pack'}", "model=graphsage")
    with pytest.raises(SignError, match=r"model=GraphSAGE: is trained on the graph itself, which exported hops"):
        prepare(settings)


def test_a_baseline_has_no_hops_and_no_predictions(configured: Configured) -> None:
    settings = configured(*system("graphsage"))
    with pytest.raises(SignError, match="model=GraphSAGE: is trained on the graph itself and has no hops"):
        _ = settings.precomputation
    folder = create_run_folder(settings, prepare(settings))
    with pytest.raises(SignError, match="predictions of GraphSAGE are not supported"):
        trained_settings(folder, OmegaConf.create())


def test_a_program_cannot_train_a_baseline(tmp_path: Path) -> None:
    with pytest.raises(SignError, match="model=GraphSAGE: a program trains models on hops"):
        in_memory.configured(in_memory.composed({}, ["model=graphsage"]), tmp_path, None)
