"""Every system trains on a small graph, is evaluated exactly, and repeats its numbers."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from common.baselines import SYSTEMS, system
from common.graphs import dense_undirected
from hydra.utils import get_class
from numpy.typing import NDArray
from omegaconf import OmegaConf

from sign.baselines.base import Baseline
from sign.baselines.network import ConcatLayer, DenseLayer, GCNLayer, Network, SAGELayer
from sign.config.settings import Settings
from sign.experiments.run import make_task, prepare, run
from sign.graph.graph import SPLITS
from sign.report.run_records import read_runs
from sign.system.program import CONF

Configured = Callable[..., Settings]
CHANCE = 0.25


def test_every_system_is_tested() -> None:
    targets = {file.stem: str(OmegaConf.load(file).get("_target_")) for file in (CONF / "model").glob("*.yaml")}
    graph_models = {model: target for model, target in targets.items() if target.startswith("sign.baselines.")}
    models = [model for model, target in graph_models.items() if issubclass(get_class(target), Baseline)]
    assert sorted(models) == sorted(SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_learns_and_leaves_a_complete_run_folder(configured: Configured, name: str) -> None:
    settings = configured(*system(name, "training.max_epochs=6"))
    metrics = run(settings)
    assert metrics["test/accuracy"] > 2 * CHANCE
    assert all(metrics[key] > 0 for key in ("epochs", "parameters", "seconds/epoch", "seconds/inference"))
    assert metrics["seconds/inference_all"] > metrics["seconds/inference"]
    (folder,) = (settings.output_dir / "communities" / settings.slug).iterdir()
    assert json.loads((folder / "metrics.json").read_text()) == metrics
    assert {"per_class.csv", "confusion.csv"} <= {file.name for file in folder.iterdir()}
    records, problems = read_runs([settings.output_dir])
    assert [record.model for record in records] == [settings.title]
    assert not problems


def dense_logits(network: Network, matrix: NDArray[np.float64], inputs: torch.Tensor) -> torch.Tensor:
    """The outputs of a network by dense matrices, in double precision, from its parameters alone."""
    h, a = inputs.double(), torch.from_numpy(matrix)
    weights = {key: value.double() for key, value in network.state_dict().items()}
    for number, layer in enumerate(network):

        def affine(x: torch.Tensor, part: str, at: str = f"layers.{number}.") -> torch.Tensor:
            return x @ weights[f"{at}{part}.weight"].T + weights.get(f"{at}{part}.bias", 0)

        finish = layer.finish.double()
        if isinstance(layer, GCNLayer):
            h = finish(affine(a @ h, "linear") + weights[f"layers.{number}.bias"])
        elif isinstance(layer, SAGELayer):
            h = finish(affine(h, "own") + affine(a @ h, "neighbours"))
        elif isinstance(layer, ConcatLayer):
            own = layer.own_finish.double()(affine(h, "own"))
            h = torch.cat([own, finish(affine(a @ h, "neighbours"))], dim=1)
        else:
            assert isinstance(layer, DenseLayer)
            h = finish(affine(torch.nn.functional.normalize(h, dim=1) if layer.unit_length else h, "linear"))
    return h


def dense_matrix(name: str, adjacency: NDArray[np.float64], diag_lambda: float) -> NDArray[np.float64]:
    """The matrix of a system, by its formula."""
    degrees, identity = adjacency.sum(1), np.eye(len(adjacency))
    if name in ("gcn_full", "fastgcn", "asgcn"):
        scale = 1 / np.sqrt(degrees + 1)
        return scale[:, None] * (adjacency + identity) * scale
    if name == "clustergcn":
        normalised = (adjacency + identity) / (degrees + 1)[:, None]
        return normalised + diag_lambda * np.diag(np.diag(normalised))
    return adjacency / np.maximum(degrees, 1)[:, None]


@pytest.mark.parametrize("name", SYSTEMS)
def test_evaluation_is_the_network_on_all_edges(configured: Configured, name: str) -> None:
    extra = {"clustergcn": ["model.diag_lambda=0.5"], "vrgcn": ["model.fanouts=[2,2]"]}.get(name, [])
    settings = configured(*system(name, *extra, "training.max_epochs=1"))
    data = prepare(settings)
    torch.manual_seed(0)
    network = make_task(settings, data).eval().network
    logits, (seconds,) = data.logits(network, torch.device("cpu"), SPLITS)
    (graph,) = data.graphs
    expected = dense_logits(network, dense_matrix(name, dense_undirected(graph.graph), 0.5), graph.inputs)
    assert seconds > 0
    assert torch.allclose(logits.double(), expected.detach(), atol=1e-4)


@pytest.mark.parametrize("name", ["asgcn", "vrgcn", "graphsaint"])  # with state: scores, a history, a normalisation
def test_a_resumed_run_has_the_numbers_of_an_uninterrupted_one(
    configured: Configured, name: str, tmp_path: Path
) -> None:
    options = system(name, "training.batch_size=100", "training.max_epochs=2")
    half = configured(*options)
    run(half)
    (folder,) = (half.output_dir / "communities" / half.slug).iterdir()
    resumed = run(configured(f"ckpt_path={folder}", "training.max_epochs=4"))
    whole = run(configured(*options, "training.max_epochs=4", f"paths.output_dir={tmp_path / 'whole'}"))
    untimed = [key for key in whole if not key.startswith(("seconds", "memory"))]
    assert [resumed[key] for key in untimed] == [whole[key] for key in untimed]
