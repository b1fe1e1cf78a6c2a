"""Node2Vec: embeddings of random walks (Grover and Leskovec, arXiv 1607.00653), beside the features of an MLP."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from sign.baselines.base import Baseline
from sign.datasets.base import Dataset
from sign.errors import FieldError
from sign.operators.adjacency import NormalizedAdjacency
from sign.validation import Count, Range

if TYPE_CHECKING:
    from sign.baselines.batches import Batches
    from sign.baselines.graph_data import GraphData
    from sign.baselines.network import Network

Positive = Annotated[float, Range(1e-3, 1e3)]


@dataclass(frozen=True, kw_only=True)
class Node2Vec(Baseline):
    """An MLP of ``layers`` layers on the features and an embedding of ``embedding_size`` columns.

    The embedding is trained first, by skip-gram with negative samples and a sparse Adam, on ``walks_per_node`` walks
    of ``walk_length`` nodes from each node in every one of ``embedding_epochs`` epochs; ``p`` and ``q`` are the
    paper's. As in OGB's example for ogbn-products, whose settings are the defaults, labels do not train it.
    """

    layers: Count
    embedding_size: Count
    walk_length: Count
    context_size: Count
    walks_per_node: Count
    negatives: Count
    p: Positive
    q: Positive
    embedding_epochs: Count
    embedding_batch_size: Count
    embedding_learning_rate: Annotated[float, Range(0)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.context_size <= self.walk_length:
            rule = f"must be from 2 to walk_length, {self.walk_length}"
            raise FieldError("context_size", self.context_size, rule)

    @property
    def operator(self) -> NormalizedAdjacency:
        """What walks follow: the neighbours."""
        return NormalizedAdjacency("row")

    def check_dataset(self, dataset: Dataset) -> None:
        """Refuse inductive data sets: nodes outside of the training graph have no embedding."""
        if dataset.inductive:
            rule = f"{self.name} has embeddings only for the nodes of the graph that it is trained on; use false"
            raise FieldError("dataset.inductive", "true", rule)

    def network(self, features: int, classes: int, nodes: int) -> "Network":
        """Return the MLP."""
        from sign.baselines.network import DenseLayer, stack

        return stack([DenseLayer] * self.layers, features, classes, self)

    def batches(self, data: "GraphData", batch_size: int, seed: int) -> "Batches":
        """Train the embedding, append it to the features, and return batches of nodes."""
        import torch

        from sign.baselines.batches import NodeBatches
        from sign.baselines.embedding import train_embedding

        features = data.features.to_dense()
        data.inputs = torch.cat([features, train_embedding(self, data, seed)], dim=1)
        return NodeBatches(data, batch_size, seed)
