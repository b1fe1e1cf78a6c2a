"""The gradient of skip-gram equals that of automatic differentiation."""

import numpy as np
import pytest
import torch
from torch.nn.functional import logsigmoid

from sign.baselines.embedding import skip_gram
from sign.baselines.samplers.node2vec import WalkBatch


@pytest.mark.parametrize(("scale", "negatives"), [(0.1, 1), (1.0, 3), (30.0, 2)])  # the last one saturates
def test_loss_and_gradient_equal_automatic_differentiation(scale: float, negatives: int) -> None:
    random = np.random.default_rng(0)
    sources, targets = random.integers(0, 6, (2, 40))  # of nine nodes: pairs of a node with itself occur
    batch = WalkBatch(np.empty((0, 2)), sources, targets, random.integers(2, 9, (40, negatives)))
    weights = torch.from_numpy(random.standard_normal((9, 5), dtype=np.float32) * scale)
    loss, gradient = skip_gram(weights, batch)

    exact = weights.double().requires_grad_()
    positive = logsigmoid((exact[sources] * exact[targets]).sum(-1)).mean()
    negative = logsigmoid(-(exact[sources][:, None] * exact[batch.negatives]).sum(-1)).mean()
    expected = -positive - negative
    expected.backward()  # type: ignore[no-untyped-call]

    assert loss == pytest.approx(expected.item(), rel=1e-5)
    assert exact.grad is not None
    torch.testing.assert_close(gradient.to_dense().double(), exact.grad, rtol=1e-4, atol=1e-6 * scale)


def test_only_nodes_of_the_batch_have_a_row() -> None:
    batch = WalkBatch(np.empty((0, 2)), np.array([3, 3]), np.array([1, 3]), np.array([[5], [1]]))
    _, gradient = skip_gram(torch.ones(8, 2), batch)
    assert gradient.is_coalesced()
    assert gradient.indices().tolist() == [[1, 3, 5]]
