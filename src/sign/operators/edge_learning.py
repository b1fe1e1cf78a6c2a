"""The loop that learns the parameters of an operator: cross-entropy on the labels of sampled training nodes."""

import logging
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from sign.errors import SignError
from sign.graph.classification import Origin
from sign.graph.csr import CSR
from sign.operators.neighbour_sampling import Learning, neighbour_batches

log = logging.getLogger(__name__)
Layer = TypeVar("Layer", bound=nn.Module)


def fit(make: Callable[[], Layer], training: Origin, csr: CSR, learning: Learning) -> Layer:
    """Train a layer that ``make`` creates, whose forward pass takes a batch of neighbours and returns logits.

    The global random state is left as it was; equal seeds give equal parameters on one machine.

    Raises
    ------
    SignError
        If the loss does not stay finite.
    """
    labels = training.graph.labels
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), torch.inference_mode(False):
        torch.manual_seed(learning.seed)
        layer = make().train()
        optimizer = torch.optim.Adam(layer.parameters(), learning.learning_rate, weight_decay=learning.weight_decay)
        losses = []
        for batch in neighbour_batches(training, csr, learning):
            loss = _loss(layer(batch), torch.from_numpy(labels[batch.nodes]))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
    if not np.isfinite(losses).all():
        raise SignError(
            f"{training.graph.name}: the loss became {losses[-1]} while an operator learned its weights; lower its "
            "learning_rate, or scale the features"
        )
    epoch = len(losses) // learning.epochs
    first, last = np.mean(losses[:epoch]), np.mean(losses[-epoch:])
    log.info("loss on training nodes: %.4f in the first epoch, %.4f in the last", first, last)
    return layer.eval()


def _loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of a batch: one class per node, or several labels."""
    if labels.dim() == 2:
        return binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))
    return cross_entropy(logits, labels.long())
