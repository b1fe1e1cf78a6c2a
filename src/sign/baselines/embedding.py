"""Skip-gram with negative samples, on the walks of Node2Vec."""

import logging
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sign.baselines.graph_data import GraphData
from sign.baselines.node2vec import Node2Vec
from sign.baselines.samplers.node2vec import Node2VecSampler, WalkBatch
from sign.system.jit import compiled_reordered

log = logging.getLogger(__name__)


def train_embedding(baseline: Node2Vec, data: GraphData, seed: int) -> Tensor:
    """Return an embedding of all nodes; equal seeds give equal ones."""
    sampler = Node2VecSampler(
        adjacency=data.adjacency,
        targets=np.arange(data.nodes),
        seed=seed,
        batch_size=baseline.embedding_batch_size,
        walk_length=baseline.walk_length,
        context_size=baseline.context_size,
        walks_per_node=baseline.walks_per_node,
        negatives=baseline.negatives,
        p=baseline.p,
        q=baseline.q,
    )
    weights = torch.empty(data.nodes, baseline.embedding_size)
    bound = 0.5 / baseline.embedding_size  # of word2vec; products of standard normal vectors need many epochs to forget
    nn.init.uniform_(weights, -bound, bound, generator=torch.Generator().manual_seed(seed))
    parameter = nn.Parameter(weights)
    optimizer = torch.optim.SparseAdam([parameter], lr=baseline.embedding_learning_rate)
    for epoch in range(baseline.embedding_epochs):
        total = 0.0
        for batch in sampler.epoch(epoch):
            if not len(batch.sources):  # all walks start at isolated nodes
                continue
            loss, parameter.grad = skip_gram(weights, batch)
            optimizer.step()  # type: ignore[no-untyped-call]
            total += loss
        log.info("embedding: epoch %d of %d, loss %.4f", epoch + 1, baseline.embedding_epochs, total / len(sampler))
    return weights


def skip_gram(weights: Tensor, batch: WalkBatch) -> tuple[float, Tensor]:
    """Return the loss and its gradient, a sparse tensor with the rows of the nodes in the batch.

    The loss is the mean of -log σ(uᵀv) over positive pairs, plus that of -log σ(-uᵀv) over negative ones. Gathering a
    row per pair, as automatic differentiation does, takes many times as long.
    """
    used = np.zeros(len(weights), dtype=bool)
    for nodes in (batch.sources, batch.targets, batch.negatives):
        used[nodes.ravel()] = True
    nodes = np.flatnonzero(used)
    slots = np.cumsum(used) - 1
    gradient = np.zeros((len(nodes), weights.shape[1]), dtype=np.float32)
    loss = add_pairs(weights.numpy(), batch.sources, batch.targets[:, None], 1.0, slots, gradient)
    loss += add_pairs(weights.numpy(), batch.sources, batch.negatives, -1.0, slots, gradient)
    indices, values = torch.from_numpy(nodes[None]), torch.from_numpy(gradient)
    shape = tuple(weights.shape)
    return loss, torch.sparse_coo_tensor(indices, values, shape, check_invariants=False, is_coalesced=True)


@compiled_reordered
def add_pairs(weights: Any, sources: Any, others: Any, sign: Any, slots: Any, gradient: Any) -> Any:
    """Return the mean of -log σ(sign uᵀv) over pairs of ``sources[i]`` and ``others[i, k]``; add its gradient."""
    columns, loss, pairs = weights.shape[1], 0.0, others.size
    for i in range(len(sources)):
        u, slot_u = weights[sources[i]], slots[sources[i]]
        for k in range(others.shape[1]):
            v, slot_v = weights[others[i, k]], slots[others[i, k]]
            product = np.float32(0)
            for column in range(columns):
                product += u[column] * v[column]
            margin = sign * product
            small = math.exp(-abs(margin))  # never overflows
            loss += math.log1p(small) + max(-margin, 0.0)
            factor = np.float32(-sign * (small if margin > 0 else 1.0) / (1.0 + small) / pairs)
            for column in range(columns):
                gradient[slot_u, column] += factor * v[column]
            for column in range(columns):
                gradient[slot_v, column] += factor * u[column]
    return loss / pairs
