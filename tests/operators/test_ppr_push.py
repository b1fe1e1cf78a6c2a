"""The push approximation: close to the exact rows, sparser with a threshold, bounded by top_k."""

import numpy as np
import pytest
from common.graphs import normalized

from sign.datasets.synthetic.communities import Communities
from sign.graph.csr import CSR
from sign.graph.csr_transforms import add_self_loops
from sign.operators.ppr_push import push_rows


@pytest.fixture(scope="module")
def looped() -> CSR:
    return add_self_loops(Communities(nodes=80, edges=300).load().undirected)


def exact(csr: CSR, alpha: float) -> np.ndarray:
    transition = normalized(csr.to_scipy().toarray().astype(np.float64))
    rows = alpha * np.linalg.inv(np.eye(csr.nodes) - (1 - alpha) * transition)
    return rows / rows.sum(axis=1, keepdims=True)


def test_a_small_epsilon_gives_the_exact_rows(looped: CSR) -> None:
    rows = push_rows(looped, alpha=0.2, epsilon=1e-7, threshold=0.0, top_k=0).to_scipy().toarray()
    np.testing.assert_allclose(rows, exact(looped, 0.2), atol=1e-4)


def test_rows_sum_to_one_and_are_canonical(looped: CSR) -> None:
    rows = push_rows(looped, alpha=0.2, epsilon=1e-3, threshold=0.0, top_k=0)
    np.testing.assert_allclose(rows.row_sums, 1, atol=1e-6)
    assert rows.is_canonical()


def test_a_threshold_drops_small_weights(looped: CSR) -> None:
    rows = push_rows(looped, alpha=0.2, epsilon=1e-4, threshold=0.02, top_k=0)
    assert rows.entries < push_rows(looped, alpha=0.2, epsilon=1e-4, threshold=0.0, top_k=0).entries


@pytest.mark.parametrize("top_k", [1, 3, 10])
def test_top_k_bounds_the_row_and_keeps_the_node(looped: CSR, top_k: int) -> None:
    rows = push_rows(looped, alpha=0.2, epsilon=1e-4, threshold=0.0, top_k=top_k)
    assert np.diff(rows.indptr).max() <= top_k
    assert (rows.to_scipy().diagonal() > 0).all()


def test_batches_change_no_bit(looped: CSR, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = push_rows(looped, 0.2, 1e-4, 0.0, 5)
    monkeypatch.setattr("sign.operators.ppr_push.BATCH", 7)
    cut = push_rows(looped, 0.2, 1e-4, 0.0, 5)
    assert (whole.indices == cut.indices).all()
    assert (whole.weights == cut.weights).all()
