"""Steps of sampled training: exact where everything is sampled, and blind to held-out nodes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from common.baselines import SYSTEMS, system
from torch import Tensor

from sign.baselines.adaptive import AdaptiveProduct, scores
from sign.baselines.datamodule import BaselineDataModule
from sign.baselines.evaluation import logits_of_nodes, rows_of_layers
from sign.baselines.task import BaselineTask
from sign.config.settings import Settings
from sign.datasets.in_memory import InMemory
from sign.engines.local.engine import LocalEngine
from sign.experiments.run import make_task, prepare, run
from sign.graph.graph import SPLITS

Configured = Callable[..., Settings]
EVERYTHING = "training.batch_size=1000"
UNTIMED = ("test/accuracy", "test/loss", "val/loss", "train/loss", "epochs")


def made(settings: Settings, seed: int = 0) -> tuple[Any, Any]:
    """The prepared data and the task of a run."""
    data = prepare(settings)
    torch.manual_seed(seed)
    task = make_task(settings, data)
    assert isinstance(task, BaselineTask)
    return data, task


def loss_of(network: torch.nn.Module, batch: Any) -> Tensor:
    """The loss of a batch, as the task computes it."""
    outputs = network(batch.inputs, batch.propagations)
    logits = outputs if batch.targets is None else outputs[batch.targets]
    losses = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="none")
    return (losses * batch.loss_weights).sum()


def full_gradient(data: BaselineDataModule, network: Any) -> list[Tensor]:
    """The gradient of the mean loss of all training nodes, by dense matrices."""
    (graph,) = data.graphs
    matrix, h = torch.from_numpy(graph.matrix.to_scipy().toarray()), graph.inputs
    for layer in network:
        h = layer.update(h, matrix @ layer.message(h) if layer.propagates else h)
    targets = torch.from_numpy(graph.targets)
    loss = torch.nn.functional.cross_entropy(h[targets], graph.labels[targets])
    return list(torch.autograd.grad(loss, list(network.parameters())))


def assert_same_gradient(network: Any, loss: Tensor, expected: list[Tensor]) -> None:
    for ours, theirs in zip(torch.autograd.grad(loss, list(network.parameters())), expected, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize(("name", "extra"), [("gcn_full", ()), ("graphsage", ("model.fanouts=[300,300]",))])
def test_a_step_with_all_neighbours_is_a_step_of_the_full_batch(
    configured: Configured, name: str, extra: tuple[str, ...]
) -> None:
    data, task = made(configured(*system(name, "model.dropout=0", EVERYTHING, *extra)))
    (batch,) = data.batches.epoch(0, task.network)
    assert_same_gradient(task.network, loss_of(task.network, batch), full_gradient(data, task.network))


@pytest.mark.parametrize("aggregator", ["mean", "gcn"])
def test_a_step_of_vrgcn_with_the_present_activations_as_history_has_no_variance(
    configured: Configured, aggregator: str
) -> None:
    options = ("model.dropout=0", "model.fanouts=[1,1]", f"model.aggregator={aggregator}", EVERYTHING)
    data, task = made(configured(*system("vrgcn", *options)))
    network, (graph,) = task.network, data.graphs
    matrix, h = torch.from_numpy(graph.matrix.to_scipy().toarray()), graph.inputs
    for number, layer in enumerate(network):
        if number in (1, 2):
            network.get_buffer(f"history{number}").copy_(h.detach())
        h = layer.update(h, matrix @ layer.message(h) if layer.propagates else h)
    (batch,) = data.batches.epoch(0, network)
    outputs = network(batch.inputs, batch.propagations)
    order = next(iter(data.batches.sampler.epoch(0))).nodes[-1]
    assert torch.allclose(outputs, h[torch.from_numpy(order)], atol=1e-5)


def test_the_history_of_vrgcn_follows_the_activations(configured: Configured) -> None:
    data, task = made(configured(*system("vrgcn", "model.dropout=0", EVERYTHING)))
    (batch,) = data.batches.epoch(0, task.network)
    task.network(batch.inputs, batch.propagations)
    visited = task.network.get_buffer("history1").any(dim=1)
    graph = data.graphs[0]
    expected = task.network.layers[0].update(graph.inputs, graph.first_product)
    assert visited[torch.from_numpy(graph.targets)].all()
    assert torch.allclose(task.network.get_buffer("history1")[visited], expected[visited], atol=1e-6)


def test_scores_of_asgcn_reweight_the_draws_and_are_trained(configured: Configured) -> None:
    data, task = made(configured(*system("asgcn", "model.dropout=0", EVERYTHING)))
    network = task.network
    (batch,) = data.batches.epoch(0, network)
    product = batch.propagations[-1]
    assert isinstance(product, AdaptiveProduct)
    h = torch.randn(product.block.columns, 4)
    assert torch.allclose(product.product(h), product.block @ h, atol=1e-4)  # by the scores that it was drawn with
    product.penalty.backward()
    assert network.scores.weight.grad.any()
    network.scores.weight.data.normal_()
    weights = product.masses * scores(network, product.features)
    q = (weights / weights.sum())[product.drawn]
    expected = product.block @ (h * (product.probabilities / q)[:, None])
    assert torch.allclose(product.product(h), expected)


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "node2vec"])  # which refuses inductive data
def test_training_never_sees_a_held_out_node(configured: Configured, name: str) -> None:
    settings = configured(*system(name, "dataset.inductive=true"))
    graph = settings.dataset.load()
    held_out = np.concatenate([graph.val, graph.test])
    features = np.array(graph.features)
    features[held_out] = 1e30  # finite, as a graph has to be, but not after a product of layers
    data, task = made(replace(settings, dataset=InMemory.of(replace(graph, features=features))))
    assert [scope.scope.name for scope in data.graphs] == ["train", "full"]
    for batch in data.batches.epoch(0, task.network):
        assert batch.inputs.abs().max() < 1e6
        assert task.network(batch.inputs, batch.propagations).abs().max() < 1e6


def test_an_inductive_run_evaluates_each_split_on_its_graph(configured: Configured) -> None:
    data, task = made(configured(*system("graphsage", "dataset.inductive=true")))
    network = task.network.eval()
    logits, _ = data.logits(network, torch.device("cpu"), SPLITS)
    inner, whole = (logits_of_nodes(network, graph, data.engine, torch.device("cpu")) for graph in data.graphs)
    assert torch.equal(logits[data.loaders["train"].rows], inner[torch.from_numpy(data.graphs[0].targets)])
    assert torch.equal(logits[data.loaders["test"].rows], whole[torch.from_numpy(data.graphs[1].scope.rows["test"])])
    only, _ = data.logits(network, torch.device("cpu"), ["val"])
    assert not only[: data.graphs[0].nodes].any()


def test_evaluation_in_blocks_of_columns_is_the_same(configured: Configured, monkeypatch: pytest.MonkeyPatch) -> None:
    data, task = made(configured(*system("graphsage")))
    whole, _ = data.logits(task.network.eval(), torch.device("cpu"), SPLITS)
    monkeypatch.setattr(LocalEngine, "needs", lambda *_: (0, 1 << 40))
    monkeypatch.setattr("sign.baselines.evaluation.memory.remaining", lambda: 5 << 40)
    parts, _ = data.logits(task.network, torch.device("cpu"), SPLITS)
    assert torch.equal(whole, parts)


@pytest.mark.parametrize("name", SYSTEMS)
def test_validation_computes_what_the_validation_nodes_depend_on(configured: Configured, name: str) -> None:
    data, task = made(configured(*system(name, "dataset.nodes=300", "dataset.edges=330")))
    network, (graph,), nodes = task.network.eval(), data.graphs, data.loaders["val"].rows[:3]
    expected, _ = data.logits(network, torch.device("cpu"), SPLITS)
    for _, computed in (parts := rows_of_layers(network, graph, nodes.numpy())):
        assert computed is not None
    seen = np.full_like(graph.inputs, 1e30)  # spoils every output that reads it
    (first, _), *_ = parts
    seen[first] = graph.inputs[torch.from_numpy(first)]
    graph.inputs = torch.from_numpy(seen)
    logits = logits_of_nodes(network, graph, data.engine, torch.device("cpu"), nodes.numpy())
    assert torch.allclose(logits[nodes], expected[nodes], atol=1e-5)


def test_the_next_run_of_a_series_has_the_numbers_of_a_run_with_its_seed(configured: Configured) -> None:
    options = system("graphsaint", "training.max_epochs=2")
    shared, second = prepare(configured(*options)), configured(*options, "seed=1")
    shared.reuse(1)
    first, again = run(second, shared), run(second)
    assert [first[name] for name in UNTIMED] == [again[name] for name in UNTIMED]


def test_a_multilabel_graph_is_learned(configured: Configured) -> None:
    metrics = run(configured(*system("graphsaint", "dataset.multilabel=true", "training.max_epochs=8")))
    assert metrics["test/micro_f1"] > 0.5
