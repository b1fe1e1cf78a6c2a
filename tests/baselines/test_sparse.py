"""Sparse inputs change no number beyond rounding: neither products, gradients nor evaluations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from common.baselines import SYSTEMS, system
from hypothesis import given
from hypothesis import strategies as st

from sign.baselines.evaluation import logits_of_nodes
from sign.baselines.network import linear
from sign.config.settings import Settings
from sign.engines.local.engine import LocalEngine
from sign.experiments.run import make_task, prepare
from sign.graph import classification
from sign.models.networks.sparse import Dropout, SparseMatrix, SparseRows

Configured = Callable[..., Settings]


def sparse_matrix(rows: int, columns: int, seed: int) -> scipy.sparse.csr_array:
    rng = np.random.default_rng(seed)
    return scipy.sparse.random_array((rows, columns), density=0.3, rng=rng, dtype=np.float32).tocsr()


@given(st.integers(1, 8), st.integers(1, 9), st.integers(1, 4), st.booleans(), st.integers(0, 99))
def test_a_linear_map_of_sparse_rows_and_its_gradients_are_those_of_dense_ones(
    rows: int, columns: int, units: int, bias: bool, seed: int
) -> None:
    matrix, layer = sparse_matrix(rows, columns, seed), linear(columns, units, bias)
    outputs = []
    for h in (SparseRows.from_scipy(matrix), torch.from_numpy(matrix.toarray())):
        y = layer(h)
        outputs.append((y, *torch.autograd.grad(y.square().sum(), list(layer.parameters()))))
    for ours, theirs in zip(*outputs, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


@given(st.integers(1, 8), st.integers(0, 99))
def test_selected_rows_and_products_with_blocks_are_those_of_dense_rows(rows: int, seed: int) -> None:
    matrix, block = sparse_matrix(rows, 5, seed), sparse_matrix(4, rows, seed + 1)
    h, dense = SparseRows.from_scipy(matrix), torch.from_numpy(matrix.toarray())
    chosen = torch.from_numpy(np.random.default_rng(seed).integers(0, rows, 6))
    assert torch.equal(h[chosen].to_dense(), dense[chosen])
    assert torch.equal(h[:2].to_dense(), dense[:2])
    product = h.multiplied_by(SparseMatrix(block.indptr, block.indices, block.data, rows))
    assert torch.allclose(product.to_dense(), torch.from_numpy(block.toarray()) @ dense)


def test_dropout_drops_entries_and_scales_the_others() -> None:
    h, dropout = SparseRows.from_scipy(sparse_matrix(200, 50, 0)), Dropout(0.25)
    kept = dropout(h).values / h.values
    assert np.unique(kept.round(5)) == pytest.approx([0, 4 / 3], abs=1e-5)
    assert kept.mean() == pytest.approx(1, abs=0.05)
    assert dropout.eval()(h) is h


def steps(settings: Settings) -> tuple[list[list[torch.Tensor]], torch.Tensor, Any]:
    """Loss and gradients of each batch of an epoch, the exact logits, and the inputs."""
    data = prepare(settings)
    torch.manual_seed(0)
    task = make_task(settings, data)
    network: Any = task.network
    results = []
    for batch in data.batches.epoch(0, network):
        logits = network(batch.inputs, batch.propagations)
        logits = logits if batch.targets is None else logits[batch.targets]
        losses = torch.nn.functional.cross_entropy(logits, batch.labels, reduction="none")
        loss = (losses * batch.loss_weights).sum() + sum(each.penalty for each in batch.propagations)
        results.append([loss.detach(), *torch.autograd.grad(loss, list(network.parameters()), allow_unused=True)])
    network.eval()
    (graph,) = data.graphs
    return results, logits_of_nodes(network, graph, LocalEngine(), torch.device("cpu")), graph.inputs


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "node2vec"])  # whose inputs are dense
def test_a_system_has_the_steps_and_outputs_of_dense_inputs(
    configured: Configured, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    small = [each for each in system(name, "model.dropout=0.0") if not each.startswith("dataset")]
    settings = configured(*small, "dataset=cora", "dataset.train_per_class=3", "scaling.features=row_sum")
    steps_of_sparse, logits_of_sparse, inputs = steps(settings)
    assert isinstance(inputs, SparseRows)
    monkeypatch.setattr(classification, "MAX_DENSITY", 0)
    steps_of_dense, logits_of_dense, inputs = steps(settings)
    assert isinstance(inputs, torch.Tensor)
    assert torch.allclose(logits_of_sparse, logits_of_dense, atol=1e-5)
    for ours, theirs in zip(steps_of_sparse, steps_of_dense, strict=True):
        for value, expected in zip(ours, theirs, strict=True):
            assert (value is None) == (expected is None)
            assert value is None or torch.allclose(value, expected, atol=1e-5)
