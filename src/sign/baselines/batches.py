"""What the task trains on: rows of inputs, the products of each layer, and the labels of the targets."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from sign.baselines.graph_data import GraphData
from sign.baselines.network import Network
from sign.baselines.propagation import Propagation
from sign.baselines.samplers.batches import Integers
from sign.models.networks.sparse import Inputs, SparseMatrix


@dataclass(eq=False)
class TrainingBatch:
    """One step: the outputs of the network at ``targets``, or all of them, have ``labels``.

    The loss is the sum of the losses of the targets times ``loss_weights``.
    """

    inputs: Inputs
    propagations: list[Propagation]
    labels: Tensor
    loss_weights: Tensor
    targets: Tensor | None = None

    def to(self, device: torch.device, **_: Any) -> Self:
        """Move to a device; Lightning calls this."""
        for name in ("inputs", "labels", "loss_weights", "targets"):
            if (tensor := getattr(self, name)) is not None:
                setattr(self, name, tensor.to(device))
        self.propagations = [propagation.to(device) for propagation in self.propagations]
        return self


class Batches(ABC):
    """The batches of an epoch, which depend on the seed, the epoch and, for learned samplers, on the network."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of batches per epoch."""

    @abstractmethod
    def epoch(self, number: int, network: Network) -> Iterator[TrainingBatch]:
        """Iterate over the batches of an epoch."""


class FullBatch(Batches):
    """The whole training graph, in one step per epoch."""

    def __init__(self, data: GraphData, layers: int) -> None:
        matrix = data.adjacency
        block = SparseMatrix(matrix.indptr, matrix.indices, matrix.weights, matrix.nodes)
        targets = torch.from_numpy(data.targets)
        weights = torch.full((len(targets),), 1 / len(targets))
        self.batch = TrainingBatch(data.inputs, [Propagation(block)] * layers, data.labels[targets], weights, targets)

    def __len__(self) -> int:
        return 1

    def epoch(self, number: int, network: Network) -> Iterator[TrainingBatch]:
        """Return the same batch in every epoch."""
        return iter([self.batch])


class NodeBatches(Batches):
    """Training nodes alone, for a network without products, in a new order every epoch."""

    def __init__(self, data: GraphData, batch_size: int, seed: int) -> None:
        self.data, self.batch_size, self.seed = data, batch_size, seed

    def __len__(self) -> int:
        return -(-len(self.data.targets) // self.batch_size)

    def epoch(self, number: int, network: Network) -> Iterator[TrainingBatch]:
        """Iterate over the batches of an epoch."""
        order = np.random.default_rng([self.seed, number]).permutation(self.data.targets)
        for first in range(0, len(order), self.batch_size):
            nodes = order[first : first + self.batch_size]
            yield target_batch(self.data, nodes, [], nodes)


class EpochLoader:
    """The loader of training batches; ``epoch`` starts the present epoch."""

    def __init__(self, batches: Batches, epoch: Callable[[], Iterator[TrainingBatch]]) -> None:
        self.batches, self.epoch = batches, epoch

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[TrainingBatch]:
        yield from self.epoch()  # at the first batch: Lightning makes the iterator before it counts the epoch


def target_batch(
    data: GraphData, inputs: Integers, propagations: list[Propagation], targets: Integers
) -> TrainingBatch:
    """Return the batch of some input nodes whose outputs are those of ``targets``, with the mean of their losses."""
    labels = data.labels[torch.from_numpy(targets)]
    weights = torch.full((len(targets),), 1 / max(1, len(targets)))
    return TrainingBatch(data.inputs[torch.from_numpy(inputs)], propagations, labels, weights)
