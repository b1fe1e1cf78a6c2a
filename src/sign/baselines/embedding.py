"""Skip-gram with negative samples, on the walks of Node2Vec."""

import logging

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from sign.baselines.graph_data import GraphData
from sign.baselines.node2vec import Node2Vec
from sign.baselines.samplers.node2vec import Node2VecSampler, WalkBatch

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
    embedding = nn.Embedding(data.nodes, baseline.embedding_size, sparse=True)
    nn.init.normal_(embedding.weight, generator=torch.Generator().manual_seed(seed))
    optimizer = torch.optim.SparseAdam(embedding.parameters(), lr=baseline.embedding_learning_rate)
    for epoch in range(baseline.embedding_epochs):
        total = 0.0
        for batch in sampler.epoch(epoch):
            if not len(batch.sources):  # all walks start at isolated nodes
                continue
            optimizer.zero_grad()
            loss = skip_gram_loss(embedding, batch)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()  # type: ignore[no-untyped-call]
            total += loss.item()
    log.info("embedding: loss %.4f in the last of %d epochs", total / len(sampler), baseline.embedding_epochs)
    return embedding.weight.detach()


def skip_gram_loss(embedding: nn.Embedding, batch: WalkBatch) -> Tensor:
    """The mean of -log σ(uᵀv) over positive pairs, plus that of -log σ(-uᵀv) over negative ones."""
    sources, targets = (embedding(torch.from_numpy(nodes)) for nodes in (batch.sources, batch.targets))
    negatives = embedding(torch.from_numpy(batch.negatives))
    positive = logsigmoid((sources * targets).sum(-1)).mean()
    negative = logsigmoid(-(sources[:, None] * negatives).sum(-1)).mean()
    return -(positive + negative)
