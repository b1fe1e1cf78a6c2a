"""The torch engine: devices, and memory within the budget."""

from pathlib import Path

import numpy as np
import pytest
from common.graphs import partly_used, rows_of

from sign.datasets.synthetic.communities import Communities
from sign.diffusion.precompute import diffuse
from sign.engines.torch import TorchEngine
from sign.errors import SignError
from sign.graph.classification import classification_of
from sign.graph.matrix import Matrix
from sign.operators.adjacency import NormalizedAdjacency
from sign.store.store import Store
from sign.system import memory


def test_a_missing_gpu_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    graph = Communities(nodes=50, edges=100).load()
    with pytest.raises(SignError, match="torch finds no GPU"):
        TorchEngine(device="cuda").product(Matrix(graph.adjacency), graph.features)


def test_a_small_budget_cuts_columns_into_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    classification, powers = classification_of(partly_used()), {"p": (NormalizedAdjacency(), 2)}
    expected = diffuse(classification, powers, TorchEngine(), Store(str(tmp_path / "a")))
    matrix = 24 * classification.scopes[0].origin.graph.adjacency.entries + 8 * 400
    monkeypatch.setattr(memory, "remaining", lambda: matrix + 4 * 400 * 4 * 17)
    cut = diffuse(classification, powers, TorchEngine(), Store(str(tmp_path / "b")))
    for ours, theirs in zip(rows_of(cut, "test"), rows_of(expected, "test"), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
